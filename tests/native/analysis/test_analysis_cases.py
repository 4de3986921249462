"""Analyses of single functions, as data: see ``tests/native/cases/analysis-*.test``.

Every function is verified by LLVM, with what its section ``[module]`` declares.
"""

from __future__ import annotations

from itertools import chain

import pytest

from tests.native.cases import Case, cases
from trodden.native.analysis.comparisons import Values
from trodden.native.analysis.constant_returns import returned_constants
from trodden.native.analysis.function_cfg import FunctionCfg, read_function
from trodden.native.analysis.induction import Induction
from trodden.native.analysis.recording_calls import split_at_recording_calls
from trodden.native.analysis.returns_twice import split_at_returns_twice
from trodden.native.analysis.trip_counts import constant_trip_counts
from trodden.native.ir.attributes import Attributes, read_attributes
from trodden.native.ir.function import cut_function
from trodden.native.ir.llvm import check
from trodden.native.ir.module import cut_module

EFFECTS = ("may_unwind", "may_not_return", "returns_twice", "unduplicable")


def module_of(case: Case, definition: str) -> str:
    """The text of a module with one definition and what it needs."""
    return f"{definition}\n\n{case.get('module')}\n"


def attributes_of(case: Case) -> Attributes:
    """The attributes of the functions of a case, after LLVM has verified the module."""
    text = module_of(case, case["in"])
    check(text, str(case))
    return read_attributes(cut_module(text))


def read(case: Case) -> FunctionCfg:
    """The function of a case with its graph; ``[stage]`` ``early``: it is not optimised yet."""
    return read_function(cut_function(case["in"]), attributes_of(case), case.get("stage") != "early")


@pytest.mark.parametrize("case", cases("analysis-loops"), ids=str)
def test_trip_counts_and_induction_variables(case: Case) -> None:
    function = read(case)
    counts = constant_trip_counts(function.graph, function.ir, function.loops, Values(function.ir))
    lines: list[str] = []
    for number, loop in enumerate(function.loops.loops):
        label = function.ir.blocks[loop.header].label
        count = counts.get(loop.header)
        lines.append(f"{label}: {count or 'unknown'}; {_described(function.induction(number))}")
    assert "\n".join(lines) == case["out"]


def _described(induction: Induction | None) -> str:
    if induction is None:
        return "no induction variable"
    kind = "adds " if induction.own else ""
    course = f"{induction.type} {induction.start} step {induction.step}"
    return f"{kind}%{induction.name} from {course}, cost {induction.flush_cost}"


@pytest.mark.parametrize("case", cases("analysis-tail-calls"), ids=str)
def test_tail_calls(case: Case) -> None:
    function = read(case)
    found = [
        f"{block.label}: {call.callee or 'pointer'}"
        for block, call in zip(function.ir.blocks, function.tail_calls.by_block, strict=True)
        if call is not None
    ]
    found += [f"{label}: return block" for label in sorted(function.tail_calls.return_blocks)]
    assert ("\n".join(found) or "none") == case["out"]


@pytest.mark.parametrize("case", cases("analysis-call-effects"), ids=str)
def test_call_effects(case: Case) -> None:
    function = read(case)
    lines: list[str] = []
    for call in chain(*function.calls):
        callee = call.callee or ("assembly" if call.is_assembly else "pointer")
        effects = [name for name in EFFECTS if getattr(call, name)]
        lines.append(f"{callee}: {', '.join(effects) or 'returns'}")
    assert "\n".join(lines) == case["out"]


@pytest.mark.parametrize("case", cases("analysis-returns-twice"), ids=str)
def test_blocks_are_split_after_calls_that_return_twice(case: Case) -> None:
    function = cut_function(case["in"])
    split = split_at_returns_twice(function, attributes_of(case))
    if "unchanged" in case.sections:
        assert split is function
        return
    text = split.render()
    assert text == case["out"]
    assert cut_function(text) == split, "blocks are what their text says"
    check(module_of(case, text), str(case))


@pytest.mark.parametrize("case", cases("analysis-recording-calls"), ids=str)
def test_blocks_of_traced_functions_are_split_after_recording_calls(case: Case) -> None:
    function = cut_function(case["in"])
    split = split_at_recording_calls(function, attributes_of(case))
    if "unchanged" in case.sections:
        assert split is function
        return
    text = split.render()
    assert text == case["out"]
    assert cut_function(text) == split, "blocks are what their text says"
    check(module_of(case, text), str(case))


@pytest.mark.parametrize("case", cases("analysis-constant-returns"), ids=str)
def test_returned_constants(case: Case) -> None:
    attributes_of(case)
    found = returned_constants(cut_function(case["in"]))
    assert ("\n".join(f"{label}: {kind.name}" for label, kind in found.items()) or "none") == case["out"]
