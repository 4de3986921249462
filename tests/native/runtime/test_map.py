"""``docs/runtime.md`` has every source file of the runtime in the table of its folder, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import trodden.native

RUNTIME = Path(trodden.native.__file__).parent / "runtime"
PAGE = Path(__file__).parents[3] / "docs" / "runtime.md"


def _listed() -> set[str]:
    """The files in the first column of each folder's table."""
    found = set()
    for section in re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        folder = section.partition(":")[0]
        for row in re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE):
            found |= {f"{folder}/{name}" for name in re.findall(r"`(\w+\.c)`", row)}
    return found


def test_the_map_of_the_runtime_is_complete() -> None:
    sources = {path.relative_to(RUNTIME).as_posix() for path in RUNTIME.rglob("*.c")}
    assert len(sources) > 40
    assert _listed() == sources
