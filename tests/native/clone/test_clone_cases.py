"""Functions with clones of their blocks, as data: see ``tests/native/cases/clone.test``."""

from __future__ import annotations

import re

import pytest

from tests.native.cases import Case, cases
from trodden.native.clone.clone_text import add_clones
from trodden.native.clone.ssa_repair import find_versions
from trodden.native.ir.fresh_names import FreshNames
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.llvm import check

CASES = [*cases("clone"), *cases("debug_records")]
_LABEL = re.compile(r"""(?:"[^"]*"|[^\s"'])+'*""")


def clones_of(case: Case, function: IRFunction) -> tuple[list[int], list[list[int]]]:
    """The origins of the clones, and the successors of all blocks and clones."""
    numbers = {block.label: number for number, block in enumerate(function.blocks)}
    origins: list[int] = []
    given: dict[int, list[str]] = {}
    for line in case["clones"].splitlines():
        name, kind, *labels = _LABEL.findall(line)
        if kind == "=":
            numbers[name] = len(function.blocks) + len(origins)
            origins.append(numbers[labels[0]])
        else:
            assert kind == "->", line
            given[numbers[name]] = labels
    whole = [*range(len(function.blocks)), *origins]
    return origins, [
        [numbers[label] for label in given.get(number, function.blocks[origin].successors)]
        for number, origin in enumerate(whole)
    ]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_clones(case: Case) -> None:
    function = cut_function(case["in"])
    result = add_clones(function, *clones_of(case, function), case.get("types").split())
    if "refused" in case.sections:
        assert result is None
        return
    assert result is not None
    text = result.render()
    assert text == case["out"]
    assert cut_function(text) == result, "blocks are what their text says"
    check(f"{case.get('module')}\n{text}\n", str(case))


@pytest.mark.parametrize("case", cases("ssa_repair"), ids=str)
def test_versions(case: Case) -> None:
    function = cut_function(case["in"])
    origins, successors = clones_of(case, function)
    reachable = {0}
    work = [0]
    while work:
        new = set(successors[work.pop()]) - reachable
        reachable |= new
        work += new
    edges = [to if number in reachable else None for number, to in enumerate(successors)]
    names = [block.label for block in function.blocks]
    fresh = FreshNames(function)
    labels = [*names, *(fresh.label() for _ in origins)]
    names += [f"{names[origin]}'" for origin in origins]
    whole = [*range(len(function.blocks)), *origins]
    versions = find_versions(function, whole, edges, labels, fresh)
    lines = [f"phi {phi} of %{name} in {names[number]}" for (name, number), phi in versions.phis.items()]
    for number in sorted(reachable):
        reaching = {name: versions.reaching_end(name, number) for name in versions.code.home}
        texts = [f"%{name} is {version}" for name, version in reaching.items() if version != "poison"]
        lines += [f"{names[number]}: {', '.join(texts)}"] if texts else []
    assert "\n".join(lines) == case["out"]
    result = add_clones(function, origins, edges)
    assert result is not None
    check(result.render(), str(case))


def test_blocks_that_do_not_change_are_the_same() -> None:
    case = next(case for case in CASES if case.name == "merge_cloned_for_one_predecessor")
    function = cut_function(case["in"])
    result = add_clones(function, [5], [[1, 2], [3], [3], [5, 4], [6], [], []])
    assert result is not None
    same = [new is old for new, old in zip(result.blocks, function.blocks, strict=False)]
    assert same == [True, True, True, True, False, False]
