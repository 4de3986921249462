"""IR with the expected result, as data: the ``*.test`` files here, in the manner of mypyc's test data.

A case starts with ``[case name]``; its input follows, up to the next line in brackets.  Such lines name
further sections: ``[out]`` is the expected result.  Sections before the first case belong to all cases of the
file.  Lines that start with ``--`` are comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
_SECTION = re.compile(r"\[(case )?([\w ]+)\]")


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
    shared: dict[str, str] = {}
    found: list[Case] = []
    for name, lines in _sections((HERE / f"{file}.test").read_text()):
        if name.startswith("case "):
            found.append(Case(file, name.removeprefix("case "), {**shared, "in": lines}))
        elif found:
            assert name not in found[-1].sections.keys() - shared.keys(), f"{found[-1]}: [{name}] twice"
            found[-1].sections[name] = lines
        else:
            shared[name] = lines
    assert len({case.name for case in found}) == len(found), f"{file}: a name is used twice"
    return found


def _sections(text: str) -> list[tuple[str, str]]:
    """The sections of a file: the name in the brackets, and the lines below."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        match = _SECTION.fullmatch(line)
        if match is not None:
            found.append(((match.group(1) or "") + match.group(2), []))
        elif found and not line.startswith("--"):
            found[-1][1].append(line)
    return [(name, "\n".join(lines).strip("\n")) for name, lines in found]
