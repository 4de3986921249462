"""``trodden cc`` and ``trodden c++`` that also keep the IR that they instrument.

    python keep_ir.py DIRECTORY cc|c++ [arguments of the compiler]

The analyses of another tool can be compared with ours only if both are made of the same IR.  The IR of a unit
is kept under the tag that the unit's id begins with, so that an executable leads to all of its IR.  This file
is run by its path, without the rest of the benchmark.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path

from trodden.api.builds import builder
from trodden.native.analysis.module_reader import tag_of_text
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import Source
from trodden.program.call_site_table import tag_of
from trodden.program.facts import UnitFacts


@dataclass
class KeepingBuilder(Builder):
    """A builder that keeps the IR that it instruments."""

    kept: Path = Path()

    def ir(self, source: Source, directory: Path) -> str:
        """The IR of a source, which is also written to a file."""
        text = super().ir(source, directory)
        self.kept.mkdir(parents=True, exist_ok=True)
        path = kept_ir(self.kept, tag_of_text(text))
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return text


def kept_ir(directory: Path, tag: int) -> Path:
    """Where the IR with this tag is kept."""
    return directory / f"{tag:08x}.ll"


def ir_of(directory: Path, unit: UnitFacts) -> Path:
    """The IR of a unit."""
    return kept_ir(directory, tag_of(unit.id))


def main(directory: str, driver: str, *arguments: str) -> int:
    """Compile or link; return the exit status."""
    cxx = driver == "c++"
    usual = builder(arguments, cxx)
    known = {field.name: getattr(usual, field.name) for field in fields(usual)}
    return KeepingBuilder(**known, kept=Path(directory)).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
