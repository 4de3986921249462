"""Features as columns: what is written is read back, and what is damaged is refused."""

from __future__ import annotations

import json
from itertools import product

import pytest

from tests.native.analysis.ir_features import CALLS, GUARD, SWITCH, loop, read
from trodden.errors import BadFile
from trodden.graph.cfg import build
from trodden.program.checked import ColumnError
from trodden.program.feature_codec import features_from_columns, features_to_columns
from trodden.weigh.features.block_features import (
    BlockFeatures,
    CallFeatures,
    FunctionFeatures,
    ReturnedConstant,
)


def test_a_switch_in_an_endless_loop_is_read_from_its_columns() -> None:
    """The endless edge of such a loop is not an edge of the switch."""
    text = (
        "define i32 @f(i32 %n) {\n  br label %loop\n\nloop:\n  switch i32 %n, label %loop [\n"
        "    i32 1, label %loop\n    i32 2, label %loop\n  ]\n}\n"
    )
    found, features, _ = read(text)
    assert features.blocks[1].cases == (None, 1, 2)
    assert len(found.graph.out_edges[1]) == 4
    assert (
        features_from_columns(json.loads(json.dumps(features_to_columns(features))), found.graph) == features
    )


@pytest.mark.parametrize("body", [GUARD, CALLS, SWITCH, loop("0", 1, "eq i32 {}, 10")])
def test_features_are_read_from_their_columns(body: str) -> None:
    found, features, _ = read(body)
    columns = json.loads(json.dumps(features_to_columns(features)))
    assert features_from_columns(columns, found.graph) == features


def test_every_constant_and_every_flag_of_a_call_is_read_from_its_column() -> None:
    chain = build("f", ["a", "b", "c", "d", "e", "EXIT"], [(block, block + 1) for block in range(5)])
    marks = [
        CallFeatures("f", cold=cold, reports_error=reports_error, ends=ends)
        for cold, reports_error, ends in product((False, True), repeat=3)
    ]
    blocks = tuple(BlockFeatures(returned=given, calls=tuple(marks)) for given in ReturnedConstant)
    features = FunctionFeatures(blocks)
    columns = features_to_columns(features)
    assert columns["gives"] == "".join(given.value for given in ReturnedConstant)
    assert columns["calls"][3] == [0, 4, 2, 6, 1, 5, 3, 7] * len(ReturnedConstant)
    assert features_from_columns(json.loads(json.dumps(columns)), chain) == features


def test_features_of_the_whole_program_are_not_stored() -> None:
    """The number of callers of a function depends on the whole program, so that it is not stored."""
    line = build("f", ["a", "EXIT"], [(0, 1)])
    features = FunctionFeatures((BlockFeatures(calls=(CallFeatures("f", sites=9),)),))
    assert features_from_columns(features_to_columns(features), line).blocks[0].calls == (CallFeatures("f"),)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ends", "g"),
        ("gives", "."),
        ("gives", "..x"),
        ("tests", [[0], "eqi0x", [0], [0]]),
        ("tests", [[0], "eqi0gs", [4], [0]]),
        ("tests", [[0], "eqi0gs", [0], [9]]),
        ("calls", [[0], [0], [0]]),
        ("calls", [[7], [0], [0], [0]]),
        ("calls", [[0], [0], [0], [8]]),
        ("passes", [[0], [0], [0]]),
        ("stores", [[0], [-1]]),
        ("said", [[0], [[1]]]),
        ("cases", [[0], [["1", 2, 3]]]),
        ("names", "x"),
    ],
)
def test_damaged_columns_are_refused(key: str, value: object) -> None:
    found, features, _ = read(GUARD)
    columns = features_to_columns(features)
    columns[key] = value
    with pytest.raises((ColumnError, KeyError, BadFile)):
        features_from_columns(columns, found.graph)
