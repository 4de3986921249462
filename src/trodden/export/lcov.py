"""The profile as an lcov tracefile, which genhtml and most coverage services read.

The records are those that lcov 1.16 and lcov 2 both take.  Version 1 knows no last lines of functions, and
version 2 derives those that are missing from where the next function starts, so that functions within others
(lambdas, closures) have no records of their own: their lines are lines of the function around them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from trodden.profile.estimated import mark
from trodden.profile.model import Count, Profile
from trodden.source.branches import Branch
from trodden.source.files import FileCounts, SourceFunction
from trodden.source.shown import shown_files
from trodden.visible_text import one_line


def to_lcov(
    profile: Profile, pattern: str | None = None, tell: Callable[[str], None] = lambda line: None
) -> str:
    """One section for each source file; branches are left out where a block profile has no edge counts.

    ``tell`` gets a line about sources that could not be read for the comments in them.
    """
    out = [] if profile.estimate is None else [f"# {mark(profile.estimate)}"]
    shown = shown_files(profile, pattern)
    for problem in shown.problems:
        tell(problem)
    for file in shown.files.values():
        out += to_lcov_file(file)
    return "".join(one_line(line) + "\n" for line in out)


def to_lcov_file(file: FileCounts) -> list[str]:
    """The section of one source file."""
    lines = _with_branches(file)
    return [
        *("TN:", f"SF:{file.path}"),
        *_functions(file.functions, lines),
        *_branches(file.branches, lines),
        *_lines(lines),
        "end_of_record",
    ]


def _whole(count: Count) -> int:
    """A tracefile holds integers: what an estimate expects at all has a count of at least one."""
    return count if isinstance(count, int) else max(round(count), int(count > 0))


def _functions(functions: Sequence[SourceFunction], lines: Mapping[int, int]) -> list[str]:
    named = _named([each for each in functions if each.line in lines and not each.enclosed])
    entries = {name: _whole(each.entries) or _executed(each, lines) for name, each in named.items()}
    return [
        *(f"FN:{each.line},{name}" for name, each in named.items()),
        *(f"FNDA:{count},{name}" for name, count in entries.items()),
        f"FNF:{len(named)}",
        f"FNH:{sum(count > 0 for count in entries.values())}",
    ]


def _executed(function: SourceFunction, lines: Mapping[int, int]) -> int:
    """1 if lines of a function were executed that no entry precedes: by a forked process, or in a closure.

    A function with executed lines has been entered, if before what was counted.
    """
    return int(any(lines.get(line, 0) for line in range(function.line, function.last + 1)))


def _named(functions: Sequence[SourceFunction]) -> dict[str, SourceFunction]:
    """The functions by name, or by symbol if the name is not unique in the file or contains a comma.

    For lcov 1.16 a name ends at a comma.  What is still not unique has its line behind it.
    """
    uses = Counter(each.name for each in functions)
    found: dict[str, SourceFunction] = {}
    for each in functions:
        plain = uses[each.name] == 1 and "," not in each.name
        name = each.name if plain or not each.symbols else each.symbols[0]
        found[name if name not in found else f"{name}:{each.line}"] = each
    return found


def _with_branches(file: FileCounts) -> dict[int, int]:
    """The counts of lines that are not doubtful; one on which a branch was evaluated has been executed."""
    lines = {line: _whole(here.count) for line, here in file.lines.items() if not here.doubtful}
    for line, found in file.branches.items():
        if line in lines or line not in file.lines:
            lines[line] = lines.get(line) or int(any(branch.ran for branch in found))
    return dict(sorted(lines.items()))


def _branches(branches: Mapping[int, Sequence[Branch]], lines: Mapping[int, int]) -> list[str]:
    """The outcomes, the branches of each line numbered from 0, so that builds can be joined line by line.

    lcov 2 takes no line that was executed while none of its branches was: there they are left out.  So are
    outcomes that may have been taken; one that was taken in a copy alone which has no counts here has 1.
    """
    out: list[str] = []
    hit = total = 0
    for line, found in branches.items():
        if line not in lines:
            continue
        single = [branch for branch in found if not branch.loose]
        if lines[line] and not any(outcome.taken for branch in single for outcome in branch.outcomes):
            continue
        for number, branch in enumerate(single):
            for successor, outcome in enumerate(branch.outcomes):
                if outcome.taken is None:
                    continue
                taken = str(_whole(outcome.count) or int(outcome.taken)) if branch.ran else "-"
                out.append(f"BRDA:{line},{number},{successor},{taken}")
                total += 1
                hit += outcome.taken
    return [*out, f"BRF:{total}", f"BRH:{hit}"]


def _lines(lines: Mapping[int, int]) -> list[str]:
    return [
        *(f"DA:{line},{count}" for line, count in lines.items()),
        f"LF:{len(lines)}",
        f"LH:{sum(count > 0 for count in lines.values())}",
    ]
