"""``trodden cc`` and ``trodden c++`` that also keep the IR they have put probes into.

    python keeping.py DIRECTORY cc|c++ [what the compiler gets]

What another tool says of a program can only be compared with ours if it was asked about the same code.  A
unit's IR is kept under the tag that its id begins with, so that a program leads to all the IR behind it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path

from trodden.commands.cc import builder_for
from trodden.native.analysis.module_reader import tag_of_text
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import Source, expand, parse
from trodden.program.call_site_tags import tag_of
from trodden.program.facts import UnitFacts


@dataclass
class Keeping(Builder):
    """A builder that keeps what it instruments."""

    kept: Path = Path()

    def ir(self, source: Source, directory: Path) -> str:
        """The IR of a source, of which a copy is left behind."""
        text = super().ir(source, directory)
        self.kept.mkdir(parents=True, exist_ok=True)
        path = kept_ir(self.kept, tag_of_text(text))
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return text


def kept_ir(directory: Path, tag: int) -> Path:
    """Where the IR with this tag is kept."""
    return directory / f"{tag:08x}.ll"


def ir_of(directory: Path, unit: UnitFacts) -> Path:
    """The IR that a unit was made of."""
    return kept_ir(directory, tag_of(unit.id))


def main(directory: str, driver: str, *words: str) -> int:
    """Compile or link as the words say; answer the exit status."""
    cxx = driver == "c++"
    usual = builder_for(parse(expand(words), cxx), cxx)
    known = {field.name: getattr(usual, field.name) for field in fields(usual)}
    return Keeping(**known, kept=Path(directory)).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
