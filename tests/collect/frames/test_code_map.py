"""What the code of a function tells where debug information is at the wrong instruction, or is missing."""

from __future__ import annotations

from tests.profile.making import function, unit_of
from trodden.collect.binary.dwarf import Function, Variable
from trodden.collect.binary.dwarf_constants import Op
from trodden.collect.binary.line_rows import LineRow
from trodden.collect.binary.location_lists import LocationRange
from trodden.collect.binary.marked_functions import MarkedFunction
from trodden.collect.binary.x86 import decode
from trodden.collect.frames.build_code_map import build_code_map
from trodden.collect.frames.code_map import CodeMap
from trodden.collect.frames.probe_progress import ProbeProgress
from trodden.plan.counters.edges import every_edge
from trodden.plan.paths.locations import Holder, Locations, Mark
from trodden.program.facts import FunctionFacts

INCREMENT, LOAD = "6448ff0425a0ffffff", "8b09"
"""``inc qword fs:[disp32]`` and ``mov ecx, [rcx]``."""
ADD_IN_FRAME, ADD_ELSEWHERE, STORE_WORD = "014c240c", "010d00000000", "48890d00000000"
LOCKED = "f048ff00"


def made(facts: FunctionFacts, *lines: tuple[str, int | None, Mark | None]) -> CodeMap:
    """The code map of instructions, each with the location and the mark that debug information has for it."""
    code, ranges, rows = b"", [], []
    for text, location, mark in lines:
        address = len(code)
        code += bytes.fromhex(text)
        if location is not None:
            expression = bytes([Op.LIT0 + location, Op.STACK_VALUE])
            ranges.append(LocationRange(address, len(code), expression))
        number = Locations.of(facts.graph).mark(mark) if mark is not None else None
        rows.append(LineRow(address, number or 0, 0))
    variable = Variable("at", 1, lambda: ranges)
    whole = Function(0, len(code), b"", 0, [variable])
    instructions = decode(code, 0)
    assert instructions is not None
    marked = MarkedFunction(unit_of(facts), 0, whole, variable, code, rows, True, False)
    return build_code_map(facts, instructions, marked)


def test_the_record_of_a_block_may_come_late() -> None:
    """The instructions in front of it are of the same block, unless one may be a counter's increment."""
    facts = function("f", "a>b b>exit")
    texts = (ADD_IN_FRAME, 1), (ADD_ELSEWHERE, 1), (LOCKED, 1), (STORE_WORD, None), (INCREMENT, None)
    for text, found in texts:
        code = made(facts, ("90", 0, None), (LOAD, None, None), (text, None, None), ("90", 1, None))
        assert code.locations[1] == found, text


def test_probes_that_were_merged_have_not_executed_in_front_of_them() -> None:
    """That of ``a``'s edge has no mark any more: it may be anything that counts, but is not in ``a`` then."""
    facts = function("f", "a>b a>c b>exit c>exit", planner=every_edge)
    marks = [Mark(Holder.EDGE, edge) for edge in range(len(facts.graph.edges))]
    rest = ((INCREMENT, 1, marks[2]), (INCREMENT, 2, marks[3]))
    for text, reliable in ((LOAD, True), (ADD_IN_FRAME, True), (LOCKED, True), (INCREMENT, False)):
        code = made(facts, (text, 0, None), (INCREMENT, 3 + 1, marks[1]), *rest)
        assert ProbeProgress(facts.graph, facts.plan, code).is_reliable(0) == reliable, text


def test_an_increment_without_location_may_be_of_the_blocks_beside_it() -> None:
    facts = function("f", "a>b a>c b>exit c>exit", planner=every_edge)
    code = made(facts, (LOAD, 0, None), (INCREMENT, None, None), (LOAD, 1, None), (LOAD, 2, None))
    assert code.unmarked == {None, 0, 1}


def test_straight_lines_end_at_calls_and_branches() -> None:
    facts = function("f", "a>b b>exit")
    call, branch, back = "e800000000", "7402", "ebf9"
    code = made(facts, *((text, 0, None) for text in ("90", "90", call, "90", branch, "90", "90")))
    assert [list(code.straight_line(start)) for start in (0, 3, 5)] == [[0, 1, 2], [3, 4], [5, 6]]
    assert [list(code.straight_line_before(start)) for start in (1, 2, 5, 6)] == [
        [0],
        [1, 0],
        [4, 3],
        [5, 4, 3],
    ]
    code = made(facts, *((text, 0, None) for text in ("90", "90", "90", "90", "90", back)))
    assert list(code.straight_line(4)) == [4, 5, 0, 1, 2, 3]
