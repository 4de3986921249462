"""Raw figures, kept in one file a program as soon as each is measured.

A figure is current as long as its fingerprint is the expected one, and the machine and its tools are the
same.  Files are replaced atomically: after a kill, all figures measured so far are still there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from bench.measures.model import Json
from bench.support.atomic_files import write_atomically
from bench.support.errors import BenchError


@dataclass(frozen=True)
class Figure:
    """What was measured, when, and a hash of what it depends on."""

    value: Json
    fingerprint: str
    date: str


@dataclass
class Store:
    """The figures of one machine in a directory; those of another machine are dropped when one is added."""

    directory: Path
    machine: Mapping[str, str | int]
    _loaded: dict[str, dict[str, Figure]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, program: str, key: str) -> Figure | None:
        """What is kept under a key, whether it is current or not."""
        with self._lock:
            return self._figures(program).get(key)

    def current(self, program: str, key: str, fingerprint: str) -> Json | None:
        """What is kept under a key, if its fingerprint is this one."""
        found = self.get(program, key)
        return found.value if found is not None and found.fingerprint == fingerprint else None

    def put(self, program: str, key: str, fingerprint: str, value: Json) -> None:
        """Keep a figure."""
        with self._lock:
            figures = self._figures(program)
            figures[key] = Figure(value, fingerprint, datetime.now(UTC).isoformat(timespec="seconds"))
            document = {
                "machine": dict(self.machine),
                "figures": {
                    name: {"date": each.date, "fingerprint": each.fingerprint, "value": each.value}
                    for name, each in sorted(figures.items())
                },
            }
            write_atomically(self._path(program), json.dumps(document, indent=1) + "\n")

    def _figures(self, program: str) -> dict[str, Figure]:
        if program not in self._loaded:
            self._loaded[program] = self._read(program)
        return self._loaded[program]

    def _read(self, program: str) -> dict[str, Figure]:
        path = self._path(program)
        if not path.is_file():
            return {}
        try:
            document = json.loads(path.read_text())
            if document["machine"] != dict(self.machine):
                return {}
            return {
                name: Figure(each["value"], each["fingerprint"], each["date"])
                for name, each in document["figures"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BenchError(f"{path}: not a file of figures ({error}); remove it and start again") from error

    def _path(self, program: str) -> Path:
        return self.directory / f"{program}.json"
