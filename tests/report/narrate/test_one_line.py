"""Tests on a line with those of other statements, and in macros: each by its own text, as often as it was."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import trodden
from trodden.report.narrate.paths import Describer

SOURCE = Path(__file__).parent / "programs" / "one_line.c"
Parts = Counter[tuple[int, str, bool]]


def _executed() -> Parts:
    """What the program evaluates, by line, text and value."""
    found: Parts = Counter()

    def test(line: int, text: str, value: bool) -> bool:
        found[line, text, value] += 1
        return value

    n = most = i = 0
    while test(17, "i < (20)", i < 20):
        v = i - 5
        _ = test(19, "(v) < (0)", v < 0) or test(19, "(v) > (9)", v > 9)
        test(19, "!(v)", not v)
        most = most if test(20, "(most) > (v ^ 5)", most > v ^ 5) else v ^ 5
        if test(21, "i < 3", i < 3):
            n += 1
        elif test(21, "i == 7", i == 7):
            n -= 1
        n += 1 if test(22, "i > 10", i > 10) else 2 if test(22, "i > 5", i > 5) else 3
        while test(23, "n > 40", n > 40):
            n -= 7
        test(23, "!g(i % 4)", not i % 4)
        _ = test(24, "i < 12", i < 12) and test(24, "i != 4", i != 4)
        test(25, "i >= 0", i >= 0)
        test(25, "n < 1000", n < 1000)
        i += 1
    return found


def test_each_test_is_named_as_often_as_it_was_evaluated(tmp_path: Path) -> None:
    profile = trodden.run(SOURCE, "-O0", profile="paths", output=tmp_path / "x.trod").profile
    describer, claimed = Describer(profile), Parts()
    for path in profile.functions["main"].paths or ():
        for edge in path.edges:
            step = describer.decision(profile.functions["main"], edge)
            if step is not None and step.outcome is not None:
                for part in step.outcome.parts:
                    claimed[step.line or 0, part.text, part.value == "true"] += path.count
    assert claimed == _executed()
