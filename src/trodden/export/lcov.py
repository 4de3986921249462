"""The profile as an lcov tracefile, which genhtml and most coverage services read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from trodden.profile.estimated import mark
from trodden.profile.model import Count, FunctionProfile, Profile
from trodden.profile.select import select
from trodden.source.branches import Branch, branches
from trodden.source.lines import LineCount, lines_of_functions
from trodden.visible_text import visible


def to_lcov(profile: Profile, pattern: str | None = None) -> str:
    """One section for each source file; branches are left out where a block profile has no edge counts."""
    functions = select(profile, pattern)
    lines = lines_of_functions(functions.values())
    defined: dict[str, list[FunctionProfile]] = {}
    found: dict[str, list[Branch]] = {}
    for function in functions.values():
        defined.setdefault(function.file, []).append(function)
        for branch in branches(function):
            found.setdefault(branch.file, []).append(branch)
    out = [] if profile.estimate is None else [f"# {mark(profile.estimate)}"]
    for file in sorted({*lines, *defined, *found}):
        out += ["TN:", f"SF:{file}"]
        out += _functions(defined.get(file, []))
        out += _branches(found.get(file, []))
        out += _lines(lines.get(file, {}))
        out.append("end_of_record")
    return "".join(visible(line) + "\n" for line in out)


def _whole(count: Count) -> int:
    """A tracefile holds integers: what an estimate expects at all has a count of at least one."""
    return count if isinstance(count, int) else max(round(count), int(count > 0))


def _functions(functions: Sequence[FunctionProfile]) -> list[str]:
    uses = Counter(function.name for function in functions)
    named = [(each.name if uses[each.name] == 1 else each.facts.linkage_name, each) for each in functions]
    named.sort(key=lambda pair: (pair[1].line, pair[0]))
    return [
        *(f"FN:{each.line},{name}" for name, each in named),
        *(f"FNDA:{_whole(each.entries)},{name}" for name, each in named),
        f"FNF:{len(named)}",
        f"FNH:{sum(each.entries > 0 for _, each in named)}",
    ]


def _branches(found: Sequence[Branch]) -> list[str]:
    out: list[str] = []
    hit = total = 0
    for number, branch in enumerate(sorted(found, key=lambda each: each.line)):
        for successor, outcome in enumerate(branch.outcomes):
            taken = str(_whole(outcome.count)) if branch.ran else "-"
            out.append(f"BRDA:{branch.line},{number},{successor},{taken}")
            total += 1
            hit += outcome.count > 0
    return [*out, f"BRF:{total}", f"BRH:{hit}"]


def _lines(lines: Mapping[int, LineCount]) -> list[str]:
    return [
        *(f"DA:{line},{_whole(here.count)}" for line, here in lines.items()),
        f"LF:{len(lines)}",
        f"LH:{sum(here.count > 0 for here in lines.values())}",
    ]
