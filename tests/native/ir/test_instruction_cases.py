"""Views of single instructions, as data: see ``tests/native/cases/instructions.test``.

Only properties with a value are listed, one a line.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.native.cases import Case, cases
from trodden.native.ir.block import IRBlock
from trodden.native.ir.instruction import Instruction, instructions_of

CASES = [*cases("instructions"), *cases("calls"), *cases("terminators")]


def described(view: Instruction) -> str:
    """The properties of a view that have a value."""
    found = ((name, " | ".join(values)) for name, values in _properties(view))
    return "\n".join(f"{name}: {text}" for name, text in found if text)


def _properties(view: Instruction) -> Iterator[tuple[str, list[str]]]:
    yield "result", [view.result or ""]
    yield "tail", [view.tail or ""]
    yield "opcode", [view.opcode]
    yield "flags", [" ".join(view.flags)]
    yield "predicate", [view.predicate or ""]
    yield "type", [view.type or ""]
    yield "callee", [view.callee or ""]
    yield "assembly", list(view.assembly or ())
    yield "attributes", [" ".join(view.attributes)]
    yield (
        "operands",
        [
            " ".join(word for word in (operand.type, operand.attributes, operand.value) if word)
            for operand in view.operands
        ],
    )
    yield "uses", list(view.uses)
    yield "condition", [view.condition or ""]
    yield "incoming", [f"{value} from {label}" for value, label in view.incoming]
    yield "successors", list(view.successors)
    yield "cases", [f"{value} to {label}" for value, label in view.cases]
    yield "unwinds", ["to caller"] if view.unwinds_to_caller else []
    yield "attachments", [f"{kind} !{node}" for kind, node in view.attachments.items()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_views(case: Case) -> None:
    text = "  " + case["in"].lstrip()
    (view,) = instructions_of(text)
    assert view.text == text
    assert described(view) == case["out"]
    for kind, node in view.attachments.items():
        assert view.attachment(kind) == node
    assert view.attachment("no such kind") is None


def test_debug_records_are_no_instructions() -> None:
    text = (
        "b:\n"
        "    #dbg_value(i32 %n, !1, !DIExpression(), !2)\n"
        "  %a = add i32 %n, 1\n"
        "    #dbg_declare(ptr %p, !3, !DIExpression(DW_OP_deref), !2)\n"
        "  ret i32 %a"
    )
    block = IRBlock.parse("b", text)
    assert [view.opcode for view in block.instructions] == ["add", "ret"]
    assert block.size == 2
