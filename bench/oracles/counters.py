"""The counters of all profilers by function, so that runs of one build can be compared.

What a counter counts differs between profilers, but two runs of one build that did the same work have to
agree in every counter.  A function is called ``FILE:NAME`` as far as its profiler records that: clang names
the files of static functions only, and gcc has hashes of lines instead of names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from trodden.profile.model import FunctionProfile, Profile

Counters = Mapping[str, Mapping[int, int]]
"""By function: counts by the number of an edge, of a path or of a counter."""

_FUNCTION = re.compile(r"^  (?:(.*);)?(\S+):$")
_BLOCKS = re.compile(r"^    Block counts: \[(.*)\]$")
_IDENTITY = re.compile(r"^(.*?):.*:FUNCTION ident=\d+, lineno_checksum=0x([0-9a-f]+),")
_VALUES = re.compile(r":\s+(\d+): ((?:\d+ )+)$")
_NUMBERED = re.compile(r"^\d\d-")
"""Object files are numbered where programs are compiled file by file."""


def of_profile(profile: Profile) -> Counters:
    """Of trodden: paths if there are some, otherwise edges."""
    found: dict[str, dict[int, int]] = {}
    for function in profile.functions.values():
        counts = found.setdefault(_name(function.file, function.facts.linkage_name), {})
        for number, count in _of_function(function):
            counts[number] = counts.get(number, 0) + count
    return found


def _of_function(function: FunctionProfile) -> list[tuple[int, int]]:
    if function.paths is not None:
        return [(path.id, path.count) for path in function.paths]
    return [(edge, count or 0) for edge, count in enumerate(function.counted_edges)]


def from_profdata(lines: Iterable[str]) -> Counters:
    """Of clang: the output of ``llvm-profdata show --counts --all-functions`` for an IR profile."""
    found: dict[str, dict[int, int]] = {}
    name = ""
    for line in lines:
        if function := _FUNCTION.match(line):
            name = _name(function.group(1) or "", function.group(2))
        elif blocks := _BLOCKS.match(line):
            found[name] = dict(enumerate(map(int, blocks.group(1).split(", "))))
    return found


def from_gcda(lines: Iterable[str]) -> Counters:
    """Of gcc: the counters of arcs in the output of ``gcov-dump -l``.

    The names that gcc gives to functions depend on the directory of the build, but their lines do not.
    Several functions of one line are distinguished by their order.
    """
    found: dict[str, dict[int, int]] = {}
    current: dict[int, int] = {}
    copies: Counter[str] = Counter()
    for line in lines:
        if function := _IDENTITY.match(line):
            name = _name(function.group(1), function.group(2))
            copies[name] += 1
            current = found.setdefault(name if copies[name] == 1 else f"{name}#{copies[name]}", {})
        elif values := _VALUES.search(line):
            current.update(enumerate(map(int, values.group(2).split()), int(values.group(1))))
    return found


def _name(file: str, function: str) -> str:
    return f"{_NUMBERED.sub('', PurePath(file).stem)}:{function}"
