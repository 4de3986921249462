"""The counters behind profiles of all makers, function by function: runs of one build can be compared.

What a counter stands for differs from maker to maker; two runs of the same build that did the same work have
to agree in every one of them, whoever made it.  A function is called ``FILE:NAME``, as far as its maker
tells: clang names the files of static functions alone, gcc has hashes of lines for names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from trodden.profile.model import FunctionProfile, Profile

Counters = Mapping[str, Mapping[int, int]]
"""By function: what was counted, by the number of an edge, of a path or of a counter."""

_FUNCTION = re.compile(r"^  (?:(.*);)?(\S+):$")
_BLOCKS = re.compile(r"^    Block counts: \[(.*)\]$")
_IDENTITY = re.compile(r"^(.*?):.*:FUNCTION ident=\d+, lineno_checksum=0x([0-9a-f]+),")
_VALUES = re.compile(r":\s+(\d+): ((?:\d+ )+)$")
_NUMBERED = re.compile(r"^\d\d-")
"""Objects are numbered where files are compiled one by one."""


def of_profile(profile: Profile) -> Counters:
    """What trodden has counted: paths where it knows them, else edges."""
    found: dict[str, dict[int, int]] = {}
    for function in profile.functions.values():
        place = found.setdefault(_name(function.file, function.facts.linkage_name), {})
        for number, count in _of_function(function):
            place[number] = place.get(number, 0) + count
    return found


def _of_function(function: FunctionProfile) -> list[tuple[int, int]]:
    if function.paths is not None:
        return [(path.id, path.count) for path in function.paths]
    return [(edge, count or 0) for edge, count in enumerate(function.counted_edges)]


def from_profdata(lines: Iterable[str]) -> Counters:
    """What ``llvm-profdata show --counts --all-functions`` tells of a profile of IR."""
    found: dict[str, dict[int, int]] = {}
    name = ""
    for line in lines:
        if function := _FUNCTION.match(line):
            name = _name(function.group(1) or "", function.group(2))
        elif blocks := _BLOCKS.match(line):
            found[name] = dict(enumerate(map(int, blocks.group(1).split(", "))))
    return found


def from_gcda(lines: Iterable[str]) -> Counters:
    """What ``gcov-dump -l`` tells of files of gcc: the counters of their arcs.

    What gcc itself calls a function depends on where it was built; the line where it stands does not.
    Several that stand on one line are told apart by their order.
    """
    found: dict[str, dict[int, int]] = {}
    current: dict[int, int] = {}
    times: Counter[str] = Counter()
    for line in lines:
        if function := _IDENTITY.match(line):
            name = _name(function.group(1), function.group(2))
            times[name] += 1
            current = found.setdefault(name if times[name] == 1 else f"{name}#{times[name]}", {})
        elif values := _VALUES.search(line):
            current.update(enumerate(map(int, values.group(2).split()), int(values.group(1))))
    return found


def _name(file: str, function: str) -> str:
    return f"{_NUMBERED.sub('', PurePath(file).stem)}:{function}"


def steady(runs: Sequence[Counters]) -> Counters:
    """The functions that have counted the same in all runs: it does not matter who does their work when."""
    first, *others = runs
    return {
        name: counted
        for name, counted in first.items()
        if all(each.get(name) == counted for each in others)
    }


@dataclass(frozen=True)
class Off:
    """Counts that are wrong, of so many that there should be."""

    wrong: int
    of: int


def off(exact: Counters, found: Counters) -> Off:
    """How far counters are from what they should be, in the functions of which that is known."""
    wrong = sum(_distance(counted, found.get(name, {})) for name, counted in exact.items())
    return Off(wrong, total(exact))


def total(counters: Counters) -> int:
    """All counts together."""
    return sum(sum(counted.values()) for counted in counters.values())


def _distance(one: Mapping[int, int], other: Mapping[int, int]) -> int:
    return sum(abs(one.get(place, 0) - other.get(place, 0)) for place in {*one, *other})
