"""Raw figures, kept in one file a program as soon as each is taken.

A figure is good as long as its fingerprint is the one that is asked for, and the machine and its tools are
the same.  A file is replaced by a whole new one, so that whoever is killed leaves all figures so far.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from bench.measures.model import Json
from bench.support.atomic_files import write_whole
from bench.support.errors import BenchError


@dataclass(frozen=True)
class Figure:
    """What was taken, when, and what it follows from."""

    value: Json
    fingerprint: str
    date: str


@dataclass
class Store:
    """The figures in a directory, of one machine; those of another one are forgotten when one is added."""

    directory: Path
    machine: Mapping[str, str | int]
    _known: dict[str, dict[str, Figure]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, program: str, key: str) -> Figure | None:
        """What is kept under a key, whether it is current or not."""
        with self._lock:
            return self._figures(program).get(key)

    def current(self, program: str, key: str, fingerprint: str) -> Json | None:
        """What is kept under a key, if it follows from the same things as what would be taken now."""
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
            write_whole(self._path(program), json.dumps(document, indent=1) + "\n")

    def _figures(self, program: str) -> dict[str, Figure]:
        if program not in self._known:
            self._known[program] = self._read(program)
        return self._known[program]

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
            raise BenchError(f"{path}: these are no figures ({error}); remove it and start again") from error

    def _path(self, program: str) -> Path:
        return self.directory / f"{program}.json"
