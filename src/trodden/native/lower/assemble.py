"""Assemble the text of a function from its own blocks and the insertions of all phases."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.native.analysis.call_effects import Call
from trodden.native.ir.rewriting import rename_phis, retarget
from trodden.native.lower.branch_weights import BranchWeights
from trodden.native.lower.builder import Builder
from trodden.native.lower.call_site_labels import SiteLabels, resume_call
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import CounterPhi, FunctionCode, Phi, Where
from trodden.program.call_site_table import NO_BLOCK

_EMPTY_INSTRUCTION = 'call void asm sideeffect "", ""()'


@dataclass(frozen=True)
class Assembled:
    """The blocks of a function as text; ``calls_resume``: it calls the unwinding library."""

    text: str
    calls_resume: bool


@dataclass
class _Block:
    """A block's text in three pieces: label and phis, what follows, the terminator."""

    head: str
    body: str
    terminator: str


def assemble(
    lowering: FunctionLowering,
    code: FunctionCode,
    lookup: Sequence[str],
    labels: SiteLabels,
    branch_weights: BranchWeights | None,
    weights: Sequence[float],
) -> Assembled:
    """The text of all blocks.

    ``lookup`` comes first in the function.  Terminators get ``branch_weights``, if there are any, from the
    measured ``weights`` of the edges.
    """
    read = lowering.read
    count = len(read.ir.blocks)
    blocks = [_with_calls(lowering, code, v, labels) for v in range(count)]
    if branch_weights is not None:
        for v, block in enumerate(blocks):
            block.terminator = branch_weights.attach(read, weights, v, block.terminator)
    entry = lowering.builder()
    phis = [_phi_lines(lowering, code, v, entry) for v in range(count)]
    texts = [_text(lowering, code, v, block, phis[v]) for v, block in enumerate(blocks)]
    code.check_all_taken(read.ir.symbol)
    texts[0] = _with_lookup(blocks[0].head, texts[0], [*lookup, *entry.lines])
    resumes = labels.labels_resume and any(block.opcode == "resume" for block in read.ir.blocks)
    return Assembled("\n\n".join([*texts, *_edge_blocks(lowering, code)]), resumes)


def _with_calls(lowering: FunctionLowering, code: FunctionCode, number: int, labels: SiteLabels) -> _Block:
    """The block with labels at its calls, and with the code around calls and at its end.

    Code at the end is in front of a call in tail position.
    """
    block, final = lowering.read.ir.blocks[number], lowering.read.tail_calls.by_block[number]
    own = lowering.debug.text
    records = deque(lowering.debug.line_records(number, block))
    bottom = _lines(code.take(Where.BOTTOM, number))
    position = min(block.insertion_point(), block.terminator_start)
    head = own(block.text[:position])
    pieces: list[str] = []

    def add_program(end: int) -> None:
        nonlocal position
        while records and records[0].position <= end:
            at, record = records.popleft()
            pieces.extend([own(block.text[position:at]), record, "\n"])
            position = at
        pieces.append(own(block.text[position:end]))

    for call in lowering.read.calls[number]:
        if call.needs_site:
            add_program(call.start)
            position = call.end + 1
            if call is final:
                pieces.append(bottom)
                bottom = ""
            pieces.append(_labelled_call(lowering, code, number, call, labels))
    if final is not None and bottom:
        add_program(final.start)
        pieces.append(bottom)
        position = final.start
        bottom = ""
    add_program(block.terminator_start)
    pieces.append(bottom)
    terminator = block.text[block.terminator_start :]
    if block.opcode == "invoke":
        before, terminator, _ = labels.label(terminator, number)
        pieces.append(before)
    elif block.opcode == "resume" and labels.labels_resume:
        exception, terminator = resume_call(block.terminator, lowering.names.value())
        label = labels.label("", NO_BLOCK).before
        pieces += [own(exception), label]
    return _Block(head, "".join(pieces), own(terminator))


def _labelled_call(
    lowering: FunctionLowering, code: FunctionCode, number: int, call: Call, labels: SiteLabels
) -> str:
    """A call that needs a site.  In tail position nothing follows it: its function is left."""
    block, final = lowering.read.ir.blocks[number], lowering.read.tail_calls.by_block[number]
    text = block.text[call.start : call.end]
    before, text, after = labels.label(text, NO_BLOCK if call is final else number)
    pieces = [before, lowering.debug.text(text), "\n"]
    if call.returns_twice:
        pieces.insert(0, _lines(code.take(Where.BEFORE_RETURNS_TWICE_CALL, number)))
        pieces.append(_lines(code.take(Where.AFTER_RETURNS_TWICE_CALL, number)))
    if call is not final or block.opcode == "unreachable":
        pieces.append(after)
    return "".join(pieces)


def _text(
    lowering: FunctionLowering, code: FunctionCode, number: int, block: _Block, phis: Sequence[str]
) -> str:
    """The whole block: phis know their predecessors, and the terminator its successors, by new labels."""
    read = lowering.read
    head = rename_phis(block.head, _renamed_predecessors(lowering, code, number))
    if phis:
        label_end = head.find("\n") + 1
        head = head[:label_end] + _lines(phis) + head[label_end:]
    successors = {
        read.positions[edge][0]: code.edges[edge].label
        for edge in read.graph.out_edges[number]
        if edge in code.edges
    }
    terminator = block.terminator
    if successors:
        terminator = retarget(read.ir.blocks[number], terminator, successors)
    return head + _lines(_top(lowering, code, number)) + block.body + terminator


def _top(lowering: FunctionLowering, code: FunctionCode, number: int) -> list[str]:
    """The code after the phis: debug records first."""
    builder = lowering.builder()
    records = lowering.debug.block_record(number)
    if records and number in lowering.landing_pads:
        # Without optimisation LLVM loads registers before a landing pad's label, if a record comes first.
        builder.emit(_EMPTY_INSTRUCTION)
    builder.records(records)
    builder.lines += code.take(Where.RECORDS, number)
    if number == lowering.read.graph.root:
        builder.lines += code.take(Where.CALL_PATH_ENTRY, 0)
        builder.lines += code.take(Where.ENTRY, 0)
    builder.lines += code.take(Where.TOP, number)
    return builder.lines


def _with_lookup(head: str, text: str, lookup: Sequence[str]) -> str:
    """The first block with code right after its label."""
    at = head.find("\n") + 1
    return text[:at] + _lines(lookup) + text[at:] if lookup else text


def _phi_lines(lowering: FunctionLowering, code: FunctionCode, number: int, entry: Builder) -> list[str]:
    """The new phis of a block; addresses that they need are computed at the entry of the function."""
    return [
        f"  %{phi.name} = phi {'ptr' if isinstance(phi, CounterPhi) else 'i64'} "
        + ", ".join(_arrivals(lowering, code, number, phi, entry))
        for phi in code.phis.get(number, ())
    ]


def _arrivals(
    lowering: FunctionLowering, code: FunctionCode, number: int, phi: Phi, entry: Builder
) -> list[str]:
    """What a phi is on arrival by each edge, once for each mention of it in its jump.

    Several edges from one block need the same name for one counter: LLVM does not compare what is computed.
    """
    addresses: dict[tuple[str, int], str] = {}
    found: list[str] = []
    for edge in lowering.read.in_edges(number):
        predecessor = _predecessor(lowering, code, edge)
        if isinstance(phi, CounterPhi):
            slot = phi.incoming.get(edge, phi.otherwise)
            if (predecessor, slot) not in addresses:
                addresses[predecessor, slot] = lowering.access.addressing.address(entry, slot)
            incoming = addresses[predecessor, slot]
        else:
            incoming = phi.incoming.get(edge, phi.otherwise)
        found += [f"[ {incoming}, %{predecessor} ]"] * len(lowering.read.positions[edge])
    return found


def _predecessor(lowering: FunctionLowering, code: FunctionCode, edge: int) -> str:
    """The label of the block from which an edge arrives."""
    if edge in code.edges:
        return code.edges[edge].label
    return lowering.read.ir.blocks[lowering.read.graph.edges[edge].src].label


def _renamed_predecessors(
    lowering: FunctionLowering, code: FunctionCode, number: int
) -> list[tuple[str, str]]:
    """The old and new labels of a block's predecessors, where they differ."""
    read = lowering.read
    found: list[tuple[str, str]] = []
    for edge in read.in_edges(number):
        if edge in code.edges:
            old = read.ir.blocks[read.graph.edges[edge].src].label
            found += [(old, code.edges[edge].label)] * len(read.positions[edge])
    return found


def _edge_blocks(lowering: FunctionLowering, code: FunctionCode) -> list[str]:
    """The new blocks on edges."""
    blocks = []
    for edge, (label, lines) in code.edges.items():
        target = lowering.read.ir.blocks[lowering.read.graph.edges[edge].dst].label
        records = lowering.debug.edge_record(edge)
        # Without a location: what LLVM moves in front of the branch would have the same one.
        blocks.append("\n".join([f"{label}:", *records, *lines, f"  br label %{target}"]))
    return blocks


def _lines(lines: Sequence[str]) -> str:
    return "".join([f"{line}\n" for line in lines])
