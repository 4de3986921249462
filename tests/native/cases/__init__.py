"""IR with the expected result, as data: the ``*.test`` files here, in the manner of mypyc's test data.

A case starts with ``[case name]``; lines that start with ``--`` describe it, and what follows up to the next
line in brackets is its input.  Further sections are named in brackets: ``[out]`` is the expected result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
_SECTION = re.compile(r"\[(case )?([\w -]+)\]")


@dataclass
class Case:
    """One case: its sections by name, the input under ``in``."""

    file: str
    name: str
    sections: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.file}-{self.name}"

    def __getitem__(self, section: str) -> str:
        return self.sections[section]

    def get(self, section: str) -> str:
        """A section that a case need not have."""
        return self.sections.get(section, "")


def cases(file: str) -> list[Case]:
    """The cases of a file."""
    found: list[Case] = []
    lines: list[str] = []
    for line in (HERE / f"{file}.test").read_text().splitlines():
        match = _SECTION.fullmatch(line)
        if match is not None:
            lines = []
            if match.group(1):
                found.append(Case(file, match.group(2)))
        elif not line.startswith("--"):
            lines.append(line)
        if found:
            name = "in" if match is not None and match.group(1) else match.group(2) if match else None
            if name is not None:
                assert name not in found[-1].sections, f"{found[-1]}: [{name}] twice"
                section = name
            found[-1].sections[section] = "\n".join(lines).strip("\n")
    assert len({case.name for case in found}) == len(found), f"{file}: a name is used twice"
    return found
