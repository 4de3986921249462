"""Exceptions that leave functions which were inlined, of which no unwinder knows.

An exception that lands in a function leaves those that were inlined into it around the call.  One that a
function hands on leaves those that it is inlined into, up to where it is caught.  Both is code of the program
once it is optimised; there the runtime is called, from a site of those functions.

What belongs to which function follows from debug locations.  The optimiser merges the locations of landing
pads and of ``resume``.  So both are marked before it runs, by inline assembly without instructions, which is
never merged with another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import DebugInfo
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.rewriting import rename_phis, retarget
from trodden.native.ir.syntax.grammar import LABEL_LINE

LEFT = "@__trodden_inlined_left"
"""What the runtime calls when functions are left that are inlined at the call."""

_LANDED, _RESUMES = "7265731", "7265732"
_MARK = re.compile(
    rf'^  (?:tail )?call void asm sideeffect "", "i"\(i32 ({_LANDED}|{_RESUMES})\)[^\n]*?'
    r"(?:, !dbg !(\d+))?(?:, ![a-z.]+ !\d+)*\n",
    re.MULTILINE,
)
_OUTSIDE = "outside"
_TOP = ""
"""In place of the location of the call that a function was inlined at, for one that was not."""


def mark_unwinding(definition: str) -> str:
    """A definition, not yet optimised, with marks behind its landing pads and before each ``resume``."""
    if " = landingpad " not in definition:
        return definition
    ir = cut_function(definition)
    ir.blocks = [_with_marks(block) for block in ir.blocks]
    return ir.render()


def _with_marks(block: IRBlock) -> IRBlock:
    text = block.text
    if block.opcode == "resume":
        location = block.terminator.attachment("dbg")
        if location is not None:
            text = _inserted(text, block.terminator_start, _mark(_RESUMES, location))
    pad = _landing_pad(block)
    location = None if pad is None else pad.attachment("dbg")
    if location is not None:
        text = _inserted(text, block.insertion_point(), _mark(_LANDED, location))
    return block if text is block.text else IRBlock.parse(block.label, text)


def _mark(kind: str, location: str) -> str:
    return f'  call void asm sideeffect "", "i"(i32 {kind}) nounwind, !dbg !{location}\n'


def _inserted(text: str, position: int, line: str) -> str:
    return f"{text[:position]}{line}{text[position:]}"


def _landing_pad(block: IRBlock) -> Instruction | None:
    if " = landingpad " not in block.text:
        return None
    return next((each for each in block.instructions if each.opcode == "landingpad"), None)


# ---- when it is optimised ----


@dataclass(frozen=True)
class _Pad:
    """A landing pad of one invoke: where it leads, its exception, and its text."""

    target: str
    value: str
    block: IRBlock


@dataclass(frozen=True)
class InlinedUnwinding:
    """Adds calls of the runtime to optimised functions.

    ``sites`` are the numbers of call sites, by the scopes that have one; ``report`` is the text that says
    that the functions at some of them were left.
    """

    debug: DebugInfo
    sites: Mapping[str, int]
    report: Callable[[Sequence[int]], str]

    def settle(self, ir: IRFunction) -> IRFunction:
        """The function with what its marks ask for, and without them."""
        by_label = {block.label: block for block in ir.blocks}
        if not any(" = landingpad " in block.text for block in ir.blocks):
            return ir
        pads = dict(self._pads(ir, by_label))
        blocks = [self._settled(block, by_label, pads) for block in ir.blocks]
        return IRFunction(ir.symbol, ir.header, [*blocks, *(pad.block for pad in pads.values())])

    def _pads(self, ir: IRFunction, by_label: Mapping[str, IRBlock]) -> Iterator[tuple[str, _Pad]]:
        """Landing pads that are needed instead of the program's, by the label of the block with the invoke.

        Where functions are left on the way from one invoke to a block, all that lead there get one.
        """
        invokes = [block for block in ir.blocks if block.opcode == "invoke"]
        left = {block.label: self._left_by(block, by_label) for block in invokes}
        replaced = {by_label[label].successors[-1] for label, sites in left.items() if sites}
        for number, block in enumerate(ir.blocks):
            if block.label in left and block.successors[-1] in replaced:
                yield block.label, self._pad(number, by_label[block.successors[-1]], left[block.label])

    def _pad(self, number: int, target: IRBlock, left: Sequence[int]) -> _Pad:
        landing = _landing_pad(target)
        assert landing is not None
        label, value = f"trodden.pad.{number}", f"trodden.exception.{number}"
        again = landing.text.replace(f"%{landing.result} = ", f"%{value} = ", 1)
        reported = self.report(left) if left else ""
        text = f"{label}:\n{again}\n{reported}  br label %{target.label}"
        return _Pad(target.label, value, IRBlock.parse(label, text))

    def _settled(self, block: IRBlock, by_label: Mapping[str, IRBlock], pads: Mapping[str, _Pad]) -> IRBlock:
        leading = {label: pad for label, pad in pads.items() if pad.target == block.label}
        if block.label not in pads and not leading and not _MARK.search(block.text):
            return block
        pieces: list[str] = []
        position = 0
        for mark in _MARK.finditer(block.text):
            pieces.append(block.text[position : mark.start()])
            position = mark.end()
            left = self._left_from(mark, block, by_label)
            pieces.append(self.report(left) if left else "")
        pieces.append(block.text[position : block.terminator_start])
        terminator = block.text[block.terminator_start :]
        if block.label in pads:
            terminator = retarget(block, terminator, {1: pads[block.label].block.label})
        settled = IRBlock.parse(block.label, "".join([*pieces, terminator]))
        return _with_phi(settled, leading) if leading else settled

    def _left_by(self, invoke: IRBlock, by_label: Mapping[str, IRBlock]) -> list[int]:
        """The sites of the functions that an exception leaves when it lands where an invoke says."""
        where = self._where(by_label[invoke.successors[-1]], 0, by_label)
        return self._sites_below(invoke.terminator.attachment("dbg"), where)

    def _left_from(self, mark: re.Match[str], block: IRBlock, by_label: Mapping[str, IRBlock]) -> list[int]:
        """The same for one that a function hands on: that the function itself is left is counted."""
        if mark[1] != _RESUMES:
            return []
        where, own = self._where(block, mark.end(), by_label), self._level(mark[2])
        return [] if own == where else self._sites_below(own, where)

    def _level(self, location: str | None) -> str:
        """The location of the call that the function of a location was inlined at."""
        return self.debug.inlined_at.get(location or "", _TOP)

    def _sites_below(self, location: str | None, where: str | None) -> list[int]:
        """The sites of a location and of the calls around it, up to the function at ``where``."""
        found: list[int] = []
        while where is not None and location and self._level(location) != where:
            _, scope = self.debug.locations.get(location, (0, ""))
            if scope in self.sites:
                found.append(self.sites[scope])
            location = self._level(location)
        return found if location or where == _OUTSIDE else []

    def _where(self, block: IRBlock, position: int, by_label: Mapping[str, IRBlock]) -> str | None:
        """Where the function was inlined that the next mark belongs to; ``None`` if there is no telling."""
        for _ in by_label:
            mark = _MARK.search(block.text, position)
            if mark is not None:
                return self._level(mark[2]) if mark[1] == _LANDED and mark[2] else None
            if block.opcode == "resume":
                return _OUTSIDE
            if len(block.successors) != 1:
                return None
            block, position = by_label[block.successors[0]], 0
        return None


def _with_phi(block: IRBlock, leading: Mapping[str, _Pad]) -> IRBlock:
    """A block that was a landing pad, where exceptions come from others."""
    landing = _landing_pad(block)
    assert landing is not None
    renames = [(label, pad.block.label) for label, pad in leading.items()]
    head = rename_phis(block.text[: landing.start], renames)
    incoming = ", ".join(f"[ %{pad.value}, %{pad.block.label} ]" for pad in leading.values())
    phi = f"  %{landing.result} = phi {landing.type} {incoming}\n"
    end = _end_of_phis(head)
    return IRBlock.parse(block.label, f"{head[:end]}{phi}{head[end:]}{block.text[landing.end + 1 :]}")


def _end_of_phis(head: str) -> int:
    """Where the lines of the label and of phis end."""
    last = head.rfind(" = phi ")
    if last >= 0:
        return head.index("\n", last) + 1
    return head.index("\n") + 1 if LABEL_LINE.match(head) else 0
