"""The branches of the source, each once, however many copies the program has of it.

A header is compiled into several units, a function is inlined at several calls, and an optimiser unrolls,
rotates and peels loops.  What the source has is one branch: an outcome is taken if any copy took it.

In code that was not optimised, branches on the same line and column are told apart by their order, which is
the same in all copies; a macro may hold several.  An optimiser keeps no order, and there all branches on a
line and column are copies of one.  It may also swap the outcomes of a copy, so that these are recognised by
the lines that they lead to.  Where that fails a copy is ``loose``: what it took may be any outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from trodden.profile.model import Count, FunctionProfile
from trodden.source.branches import Branch, Outcome, branches

_Key = tuple[str, int, int, int, int]


def branches_by_line(functions: Iterable[FunctionProfile]) -> dict[str, dict[int, list[Branch]]]:
    """The branches of some functions by file and line, each followed by its loose copies."""
    copies: dict[_Key, list[Branch]] = {}
    for function in functions:
        seen: Counter[tuple[int, str, int, int, int]] = Counter()
        for branch in branches(function):
            place = branch.file, branch.line, branch.column
            shape = 0
            if not branch.optimised:
                shape = len(branch.outcomes)
                seen[branch.instance, *place, shape] += 1
            number = seen[branch.instance, *place, shape]
            copies.setdefault((*place, shape, number), []).append(branch)
    found: dict[str, dict[int, list[Branch]]] = {}
    for alike in _with_optimised(copies):
        for branch in _joined(alike):
            found.setdefault(branch.file, {}).setdefault(branch.line, []).append(branch)
    return {path: dict(sorted(lines.items())) for path, lines in found.items()}


def _with_optimised(copies: dict[_Key, list[Branch]]) -> list[list[Branch]]:
    """The copies of each branch: those of optimised code with the first one at their line and column."""
    first: dict[tuple[str, int, int], _Key] = {}
    for key in copies:
        if key[3]:
            first.setdefault(key[:3], key)
    found: dict[_Key, list[Branch]] = {}
    for key, some in copies.items():
        found.setdefault(first.get(key[:3], key) if not key[3] else key, []).extend(some)
    return list(found.values())


def _joined(copies: Sequence[Branch]) -> list[Branch]:
    """One branch for all copies, and those that are loose."""
    ranked = sorted(copies, key=lambda copy: (not copy.ran, copy.optimised))
    whole, loose = ranked[0], []
    for copy in ranked[1:]:
        counts = _aligned(whole, copy)
        if counts is None:
            loose.append(replace(copy, loose=True))
        else:
            outcomes = (
                replace(mine, count=mine.count + count)
                for mine, count in zip(whole.outcomes, counts, strict=True)
            )
            whole = replace(whole, ran=whole.ran + copy.ran, outcomes=tuple(outcomes))
    for copy in loose:
        every = len(copy.outcomes) == len(whole.outcomes) and all(each.count for each in copy.outcomes)
        outcomes = (
            replace(each, elsewhere=True if every else each.elsewhere or None) for each in whole.outcomes
        )
        whole = replace(whole, outcomes=tuple(outcomes))
    return [whole, *loose]


def _aligned(whole: Branch, copy: Branch) -> Sequence[Count] | None:
    """How often a copy took each outcome of a branch; None if that is not certain."""
    ours, theirs = _lines(whole.outcomes), _lines(copy.outcomes)
    if not copy.ran:
        return [0] * len(ours)
    by_line: Counter[int | None] = Counter()
    for outcome in copy.outcomes:
        by_line[outcome.line] += outcome.count  # type: ignore[assignment]
    distinct = None not in ours and len(set(ours)) == len(ours)
    if distinct and set(theirs) == set(ours):
        return [by_line[line] for line in ours]
    if not (whole.optimised or copy.optimised) or len(ours) == len(theirs) > 2:
        return [outcome.count for outcome in copy.outcomes] if len(ours) == len(theirs) else None
    common = {line for line in ours if line is not None} & set(theirs)
    if len(ours) == 2 and len(common) == 1 and ours.count(line := next(iter(common))) == 1:
        rest = sum(count for other, count in by_line.items() if other != line)
        return [by_line[line] if each == line else rest for each in ours]
    return None


def _lines(outcomes: Sequence[Outcome]) -> list[int | None]:
    return [outcome.line for outcome in outcomes]
