"""Copies of one branch of the source are one branch to a reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.native.building import must
from tests.profile.making import function, profile_of, unit_of
from trodden.export.lcov import to_lcov_file
from trodden.profile.analysis.coverage import Covered
from trodden.profile.model import FunctionProfile
from trodden.profile.store.trod import load
from trodden.source.branches import Branch, Outcome
from trodden.source.coverage import cover_file
from trodden.source.files import FileCounts, source_files
from trodden.source.joined_branches import branches_by_line

Copies = list[tuple[list[int], list[int]]]
"""For each copy of a branch the lines that it leads to, and how often it did."""


def _function(copies: Copies, optimised: bool, column: int = 9) -> FunctionProfile:
    """Branches on line 2, one after the other; the block that an outcome leads to leads on to the next."""
    shape: list[str] = []
    flow: dict[str, int] = {}
    lines: dict[str, list[int]] = {}
    for number, (targets, counts) in enumerate(copies):
        lines[f"t{number}"] = [2]
        following = f"t{number + 1}" if number + 1 < len(copies) else "exit"
        for outcome, (target, count) in enumerate(zip(targets, counts, strict=True)):
            block = f"o{number}{outcome}"
            lines[block] = [target]
            shape += [f"t{number}>{block}", f"{block}>{following}"]
            flow |= {f"t{number}>{block}": count, f"{block}>{following}": count}
    one = profile_of(unit_of(function("f", " ".join(shape), lines=lines)), {"f": flow}).functions["f"]
    blocks = tuple(
        replace(block, column=column) if label.startswith("t") else block
        for label, block in zip(one.facts.graph.labels, one.facts.blocks, strict=False)
    )
    return replace(one, facts=replace(one.facts, blocks=blocks, optimised=optimised))


def _on_line(*functions: FunctionProfile) -> list[Branch]:
    return branches_by_line(functions)["/src/a.c"][2]


def _outcomes(branch: Branch) -> list[tuple[int | None, int | float, bool | None]]:
    return [(each.line, each.count, each.taken) for each in branch.outcomes]


CASES: dict[str, tuple[Copies, list[tuple[int, int, bool | None]], int]] = {
    "the same lines": ([([3, 5], [7, 0]), ([3, 5], [4, 3])], [(3, 11, True), (5, 3, True)], 0),
    "swapped": ([([3, 5], [7, 0]), ([5, 3], [0, 7])], [(3, 14, True), (5, 0, False)], 0),
    "one line in common": ([([3, 5], [0, 7]), ([3, 9], [0, 7])], [(3, 0, False), (5, 14, True)], 0),
    "as a switch": ([([3, 5], [0, 7]), ([5, 3, 3], [5, 1, 1])], [(3, 2, True), (5, 12, True)], 0),
    "other lines": ([([3, 5], [7, 0]), ([8, 9], [7, 0])], [(3, 7, True), (5, 0, None)], 1),
    "other lines, all taken": ([([3, 5], [7, 0]), ([8, 9], [6, 1])], [(3, 7, True), (5, 0, True)], 1),
    "one line only": ([([2, 2], [7, 0]), ([2, 2], [0, 7])], [(2, 7, True), (2, 0, None)], 1),
}


@pytest.mark.parametrize("case", CASES)
def test_copies_in_optimised_code(case: str) -> None:
    copies, expected, loose = CASES[case]
    whole, *rest = _on_line(_function(copies, optimised=True))
    assert (_outcomes(whole), len(rest)) == (expected, loose)
    assert all(branch.loose for branch in rest)
    counts = FileCounts("/src/a.c", (), {}, {2: [whole, *rest]})
    certain = [taken for _, _, taken in expected if taken is not None]
    assert cover_file(counts).branches == Covered(sum(certain), len(certain))
    records = [row.rpartition(",")[2] for row in to_lcov_file(counts) if row.startswith("BRDA")]
    assert [record != "0" for record in records] == certain


def test_several_tests_in_code_that_was_not_optimised_stay_apart() -> None:
    """A macro may hold several tests, all at its column."""
    copies: Copies = [([3, 5], [7, 0]), ([3, 5], [4, 3])]
    found = _on_line(_function(copies, optimised=False), _function(copies, optimised=False))
    assert [_outcomes(branch) for branch in found] == [
        [(3, 14, True), (5, 0, False)],
        [(3, 8, True), (5, 6, True)],
    ]


def test_without_columns_the_order_tells_branches_apart() -> None:
    """So it was before columns were recorded."""
    copies: Copies = [([3, 5], [7, 0]), ([3, 5], [4, 3])]
    assert len(_on_line(_function(copies, optimised=True, column=0))) == 2


def test_a_copy_that_was_never_executed_leaves_no_doubt() -> None:
    found = _on_line(_function([([8, 9], [0, 0])], True), _function([([3, 5], [7, 0])], True))
    assert [_outcomes(branch) for branch in found] == [[(3, 7, True), (5, 0, False)]]


def test_other_columns_are_other_branches() -> None:
    one, other = _function([([3, 5], [7, 0])], True), _function([([3, 5], [0, 7])], True, column=20)
    assert [_outcomes(branch) for branch in _on_line(one, other)] == [
        [(3, 7, True), (5, 0, False)],
        [(3, 0, False), (5, 7, True)],
    ]


def test_builds_with_and_without_optimisation_are_joined() -> None:
    plain, optimised = _function([([3, 5], [7, 0])], False), _function([([5, 3], [2, 0])], True)
    [whole] = _on_line(plain, optimised)
    assert _outcomes(whole) == [(3, 7, True), (5, 2, True)]


def test_an_outcome_that_may_have_been_taken_is_not_missed() -> None:
    assert Outcome(3, "b", 0).taken is False
    assert Outcome(3, "b", 0, elsewhere=None).taken is None
    assert Outcome(3, "b", 2, elsewhere=None).taken is True


UNROLLED = """#include <stdio.h>
int main(int argc, char **argv) {
    for (int k = 0; k < 4; k++) {
        if (k > argc + 7)
            printf("big\\n");
    }
    return 0;
}
"""


def test_an_unrolled_loop(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(UNROLLED)
    must("run", "-q", "-o", "a.trod", "a.c", "-O2", cwd=tmp_path)
    file = source_files(load(tmp_path / "a.trod").functions.values())[str(tmp_path / "a.c")]
    single = [branch for branch in file.branches[4] if not branch.loose]
    assert len(single) == 1
    assert [(each.line, each.taken) for each in single[0].outcomes if each.line == 5] == [(5, False)]
