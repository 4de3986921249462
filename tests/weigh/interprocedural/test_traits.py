"""Traits of calls over a whole program: which report errors or do not return, and their call sites."""

from __future__ import annotations

import pytest

from tests.weigh.branches import DIAMOND, IF, Flow, function
from trodden.weigh.features.block_features import BlockEnding, BlockFeatures, CallFeatures, FunctionFeatures
from trodden.weigh.interprocedural.call_features import with_call_features
from trodden.weigh.interprocedural.callgraph import KnownFunction
from trodden.weigh.interprocedural.traits import with_traits

LINE: Flow = [(0, 1)]
DIES = BlockFeatures(BlockEnding.NEVER_RETURNS, calls=(CallFeatures("abort", ends=True),))
WARNS = BlockFeatures(calls=(CallFeatures("fprintf", reports_error=True),))


def calls(*callees: str) -> BlockFeatures:
    return BlockFeatures(calls=tuple(map(CallFeatures, callees)))


def known(
    symbol: str, flow: Flow = LINE, unit: int = 0, local: bool = False, **blocks: BlockFeatures
) -> KnownFunction:
    """A function; ``b1=...`` are the features of block 1."""
    graph, features = function(flow, {int(name[1:]): each for name, each in blocks.items()})
    return KnownFunction(unit, symbol, graph, FunctionFeatures(tuple(features), local=local))


def marks(functions: list[KnownFunction]) -> dict[tuple[str, str], str]:
    """The traits of all calls within the program: ``e`` for ends, ``c`` for reports an error."""
    names = {each.symbol for each in functions}
    return {
        (each.symbol, call.callee): "e" * call.ends + "c" * call.reports_error
        for each, features in zip(functions, with_traits(functions), strict=True)
        for block in features.blocks
        for call in block.calls
        if call.callee in names
    }


@pytest.mark.parametrize(
    ("callee", "expected"),
    [
        pytest.param(known("f", b0=WARNS), "c", id="complains"),
        pytest.param(known("f", b0=calls("perror")), "c", id="complains by name"),
        pytest.param(known("f", DIAMOND, b1=WARNS, b2=WARNS), "c", id="complains on every way"),
        pytest.param(known("f", DIAMOND, b1=WARNS), "", id="complains on some way"),
        pytest.param(known("f", IF, b1=WARNS), "", id="goes round the complaint"),
        pytest.param(known("f", b0=DIES), "ec", id="ends"),
        pytest.param(known("f", b0=BlockFeatures(BlockEnding.NEVER_RETURNS)), "ec", id="cannot come back"),
        pytest.param(known("f", IF, b1=DIES), "", id="ends on some way"),
        pytest.param(
            known("f", [(0, 1), (0, 2), (1, 3), (2, 3)], b1=WARNS, b2=DIES), "c", id="complains or ends"
        ),
        pytest.param(known("f", [(0, 0), (0, 1), (1, 2)], b1=WARNS), "c", id="after a loop"),
        pytest.param(known("f", b0=calls("puts")), "", id="neither"),
        pytest.param(known("f", [(0, 0)]), "", id="runs for ever"),
    ],
)
def test_a_trait_requires_every_path_of_the_callee(callee: KnownFunction, expected: str) -> None:
    assert marks([known("main", b0=calls("f")), callee]) == {("main", "f"): expected}


def test_traits_propagate_to_callers() -> None:
    """Whatever the order of functions: fail calls die, check calls fail on one path, quit on all paths."""
    functions = [
        known("main", b0=calls("check", "quit")),
        known("check", IF, b1=calls("fail")),
        known("quit", DIAMOND, b1=calls("fail"), b2=calls("fail")),
        known("fail", b0=calls("die")),
        known("die", b0=DIES),
    ]
    expected = {
        ("main", "check"): "",
        ("main", "quit"): "ec",
        ("check", "fail"): "ec",
        ("quit", "fail"): "ec",
        ("fail", "die"): "ec",
    }
    assert marks(functions) == expected
    assert marks(functions[::-1]) == expected


def test_a_long_chain() -> None:
    links = [known(f"f{each}", b0=calls(f"f{each + 1}")) for each in range(3000)]
    found = marks([*links, known("f3000", b0=WARNS)])
    assert set(found.values()) == {"c"}


def test_mutual_recursion_alone_has_no_trait() -> None:
    """ping and pong always call each other, which reports no error; once one of them does, both do."""
    context = [known("main", b0=calls("ping")), known("ping", b0=calls("pong"))]
    assert set(marks([*context, known("pong", b0=calls("ping"))]).values()) == {""}
    one_way = known("pong", DIAMOND, b1=calls("ping"), b2=WARNS)
    assert set(marks([*context, one_way]).values()) == {""}
    always = known("pong", IF, b0=WARNS, b1=calls("ping"))
    assert set(marks([*context, always]).values()) == {"c"}


def test_static_functions_of_one_name_are_distinguished() -> None:
    functions = [
        known("main", unit=0, b0=calls("report")),
        known("report", unit=0, local=True, b0=WARNS),
        known("other", unit=1, b0=calls("report")),
        known("report", unit=1, local=True, b0=calls("puts")),
        known("third", unit=2, b0=calls("report")),
    ]
    found = with_traits(functions)
    assert [found[each].blocks[0].calls[0].reports_error for each in (0, 2, 4)] == [True, False, False]
    assert [len(each.blocks[0].calls) for each in found] == [1] * 5


def test_external_and_indirect_calls_are_unchanged() -> None:
    through = BlockFeatures(
        calls=(CallFeatures("", "void()"), CallFeatures("unheard_of"), CallFeatures("_exit", ends=True))
    )
    functions = [known("main", b0=through), known("", b0=WARNS)]
    assert with_traits(functions)[0].blocks[0] == through


def test_other_features_are_unchanged() -> None:
    functions = [known("main", DIAMOND, b0=BlockFeatures(stores=3), b1=calls("f"), b2=calls("g")), known("f")]
    assert with_traits(functions) == [each.features for each in functions]


def sites(functions: list[KnownFunction]) -> list[list[int]]:
    return [
        [call.sites for block in each.blocks for call in block.calls]
        for each in with_call_features(functions)
    ]


def test_number_of_call_sites_of_a_function() -> None:
    functions = [
        known("main", DIAMOND, b1=calls("grow", "puts"), b2=calls("grow"), b3=calls("once")),
        known("once", b0=calls("grow", "grow")),
        known("grow", b0=BlockFeatures(calls=(CallFeatures("", "void()"),))),
    ]
    assert sites(functions) == [[4, 0, 4, 1], [4, 4], [0]]


def test_call_sites_are_those_of_the_resolved_function() -> None:
    functions = [
        known("main", unit=0, b0=calls("helper", "shared")),
        known("helper", unit=0, local=True),
        known("other", unit=1, b0=calls("helper", "helper", "shared")),
        known("helper", unit=1, local=True),
        known("shared", unit=1),
    ]
    assert sites(functions) == [[1, 2], [], [2, 2, 2], [], []]


def test_traits_and_call_sites_together() -> None:
    functions = [known("main", b0=calls("fail", "fail")), known("fail", b0=DIES)]
    (call, again) = with_call_features(functions)[0].blocks[0].calls
    assert call == again == CallFeatures("fail", reports_error=True, ends=True, sites=2)
