"""Files of results: the figures of a table, with the machine, the tools and the dates.

A file holds the figures of one machine.  The names in these files are older than some of the names here.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.measures.model import Json
from bench.support.atomic_files import write_atomically
from bench.support.errors import BenchError
from bench.tables.layout.model import Programs


@dataclass
class Results:
    """The results of one table.

    ``programs`` have ``version``, ``about``, ``measured`` (where, with what and when) and ``figures``;
    ``failed`` says for each program what is missing and why; ``overall`` is the figure of all programs
    together, measured with the version ``overall_by`` of trodden.
    """

    table: str
    machine: dict[str, Any]
    programs: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)
    overall: Json = None
    overall_by: str = ""

    @property
    def figures(self) -> Programs:
        """The raw figures of all programs."""
        return {name: entry["figures"] for name, entry in self.programs.items()}

    @staticmethod
    def load(directory: Path, table: str) -> Results | None:
        """The results of a table, if there are some."""
        path = directory / f"{table}.json"
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text())
            for entry in found["programs"].values():
                _ = entry["version"], entry["about"], entry["measured"]["date"], entry["figures"].items()
            return Results(
                table,
                found["machine"],
                found["programs"],
                found["failed"],
                found["whole"],
                found.get("whole by", ""),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            hint = "restore it with git, or remove it and measure again"
            raise BenchError(f"{path}: not a file of results ({error}); {hint}") from error

    def only(self, names: Collection[str]) -> Results:
        """The results of some programs."""
        return replace(
            self,
            programs={name: entry for name, entry in self.programs.items() if name in names},
            failed={name: reasons for name, reasons in self.failed.items() if name in names},
        )

    def save(self, directory: Path) -> None:
        """Write them; the previous file stays until the new one is complete."""
        document = {
            "table": self.table,
            "machine": self.machine,
            "programs": self.programs,
            "failed": self.failed,
            "whole": self.overall,
            "whole by": self.overall_by,
        }
        write_atomically(directory / f"{self.table}.json", json.dumps(document, indent=1) + "\n")
