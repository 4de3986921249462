"""Comments in a source that exclude code from coverage, as lcov and gcovr know them.

``LCOV_EXCL_LINE`` excludes its line, ``LCOV_EXCL_START`` its line and all others before the one that has
``LCOV_EXCL_STOP``; with ``BR_`` before the last word only branches are excluded.  ``GCOVR_EXCL_FUNCTION`` on
the first line of a function excludes the function.  ``GCOV_`` and ``GCOVR_`` in place of ``LCOV_`` mean the
same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trodden.source.files import FileCounts

_MARKER = re.compile(r"\b(?:LCOV|GCOVR?)_EXCL_(BR_)?(LINE|START|STOP|FUNCTION)\b")


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The lines of a source that are excluded, those whose branches are, and those whose functions are."""

    lines: frozenset[int] = frozenset()
    branches: frozenset[int] = frozenset()
    functions: frozenset[int] = frozenset()


def read_exclusions(source: Sequence[str]) -> Exclusions:
    """The exclusions in the lines of a source; a region that is not ended lasts to its end."""
    lines: set[int] = set()
    branches: set[int] = set()
    functions: set[int] = set()
    inside = {False: False, True: False}
    for number, text in enumerate(source, 1):
        alone = {False: False, True: False}
        if "_EXCL_" in text:
            for match in _MARKER.finditer(text):
                of_branches, word = match[1] is not None, match[2]
                if word == "FUNCTION":
                    functions.add(number)
                elif word == "LINE":
                    alone[of_branches] = True
                else:
                    inside[of_branches] = word == "START"
        if inside[False] or alone[False]:
            lines.add(number)
        if inside[True] or alone[True]:
            branches.add(number)
    return Exclusions(frozenset(lines), frozenset(branches | lines), frozenset(functions))


def without_excluded(file: FileCounts, excluded: Exclusions) -> FileCounts:
    """A file without what is excluded; a function whose first line is excluded is excluded itself."""
    if excluded == Exclusions():
        return file
    lines, branches = set(excluded.lines), set(excluded.branches)
    kept = []
    for function in file.functions:
        if function.line in excluded.functions:
            lines.update(range(function.line, function.last + 1))
        elif function.line not in excluded.lines:
            kept.append(function)
    return replace(
        file,
        functions=kept,
        lines={line: count for line, count in file.lines.items() if line not in lines},
        branches={
            line: found for line, found in file.branches.items() if line not in branches and line not in lines
        },
    )
