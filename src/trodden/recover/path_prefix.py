"""From the state of a frame to the path prefix that it had executed, and back (BL96 §3.6).

A path that was cut short is a *prefix*: the block that it had reached, and the sum of the values of its arcs
up to there (:mod:`trodden.plan.paths.numbering`).  That sum appears in three forms, and this module is the
one place that translates between them.

``stack slot``
    What the frame of a caller holds in memory while a call is active.  ``FunctionFacts.registers`` relates it
    to the path register, for each block of the code.  Raw files and stored profiles have this form.
    A function whose paths are extended over back edges keeps two registers in that word, and all that is said
    of the path register here is about both (:mod:`trodden.program.frame_word`).
``path register``
    What :class:`trodden.recover.function_counts.FunctionCounts` holds.  A block of the graph may have several
    clones in the code with different stack slots; the register has the same meaning in all of them.
``sum``
    What names the prefix.  The register may be ahead of the sum or behind it, by an amount that depends on
    the block only; where a single prefix leads to a block the register is not needed at all.
"""

from __future__ import annotations

from trodden.graph.cfg import Graph
from trodden.plan.overlapping.numbering import (
    OverlapNumbering,
    OverlappingPath,
    numbering_of_plan,
    whole_paths,
)
from trodden.plan.overlapping.tuples import paths_of
from trodden.plan.overlapping.unfinished import UnfinishedOverlaps
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix, register_offsets
from trodden.plan.probes import WORD, Plan
from trodden.plan.routes import Route
from trodden.program.facts import FunctionFacts
from trodden.program.frame_word import HALF, masked, minus, overlap_part, path_part, plus


def register_at_call(facts: FunctionFacts, code_block: int, slot: int | None) -> int | None:
    """The path register while a call in a block of the code is active, from the stack slot of the frame.

    ``None`` where the register is not needed to decode the prefix, or the slot was not found.
    """
    held = facts.registers.get(code_block)
    return None if held is None else _from_slot(facts, held, slot)


def register_from_slot(facts: FunctionFacts, block: int, slot: int | None) -> int | None:
    """The path register in a block of the graph, from the stack slot that a profile stores for it."""
    return _from_slot(facts, _slot_of(facts, block), slot)


def slot_from_register(facts: FunctionFacts, block: int, register: int | None) -> int | None:
    """What a profile stores for a path register in a block of the graph: the inverse of the above."""
    in_slot, addend = _slot_of(facts, block)
    if not in_slot or register is None:
        return None
    if facts.plan.two_registers:
        return masked(minus(register, addend), in_slot)
    return (register - addend) % WORD


def canonical_register(facts: FunctionFacts, block: int, register: int | None) -> int | None:
    """The same register, or the constant that it is known to be, so that equal prefixes have equal keys."""
    return register_from_slot(facts, block, slot_from_register(facts, block, register))


def _slot_of(facts: FunctionFacts, block: int) -> tuple[int, int]:
    """How the register of a block of the graph is stored; as in ``FunctionFacts.registers``.

    In a block that has clones, and in one that no call needs it in, the register itself is stored.
    """
    both = (3, 0) if facts.plan.two_registers else (1, 0)
    return both if block in facts.cloned_blocks else facts.registers.get(block, both)


def _from_slot(facts: FunctionFacts, held: tuple[int, int], slot: int | None) -> int | None:
    in_slot, number = held
    if not in_slot:
        return number % WORD
    if slot is None:
        return None
    return plus(masked(slot, in_slot), number) if facts.plan.two_registers else (slot + number) % WORD


class PrefixDecoder:
    """Decodes the path registers of one plan into prefixes, and encodes them again."""

    def __init__(self, graph: Graph, plan: Plan, numbering: Numbering | None = None) -> None:
        """``numbering`` is that of the plan, if it is known already."""
        self._numbering = numbering or numbering_of_plan(graph, plan)
        self._whole = whole_paths(self._numbering)
        self._offsets = register_offsets(graph, plan, self._numbering)
        self._plan = plan
        self._overlaps: UnfinishedOverlaps | None = None
        if isinstance(self._numbering, OverlapNumbering) and plan.extends:
            self._overlaps = UnfinishedOverlaps(plan, self._numbering)

    def decodes(self, block: int) -> bool:
        """Whether prefixes that end in a block can be decoded at all."""
        return self._offsets[block] is not None

    def needs_register(self, block: int) -> bool:
        """Whether any register is needed for that, or for what was before the path."""
        return self.needs_path_register(block) or self.needs_second_register(block)

    def needs_path_register(self, block: int) -> bool:
        """Whether more than one prefix leads to a block."""
        return not isinstance(self._offsets[block], SinglePrefix)

    def needs_second_register(self, block: int) -> bool:
        """Whether an overlap may be active in a block, or tuples of paths are counted."""
        return self._plan.tuples is not None or self._may_overlap(block)

    def _may_overlap(self, block: int) -> bool:
        return self._overlaps is not None and self._overlaps.may_be_active(block)

    def sum_of(self, block: int, register: int | None) -> int | None:
        """The sum of a prefix that ends in a block; ``None`` if that cannot be decoded."""
        offset = self._offsets[block]
        if isinstance(offset, SinglePrefix):
            return offset.sum
        if isinstance(offset, RegisterOffset) and register is not None:
            if self._plan.two_registers:
                return (path_part(register) - offset.amount) % HALF
            return (register - offset.amount) % WORD
        return None

    def overlap(self, block: int, register: int | None) -> OverlappingPath | None:
        """The overlap that was active in a frame with these registers, ``None`` if there was none.

        :class:`ValueError` if that does not follow from them.
        """
        if self._overlaps is None or not self._may_overlap(block):
            return None
        total = self.sum_of(block, register)
        if register is None or total is None:
            raise ValueError("the registers are not known")
        route = self.route(block, total)
        if self._plan.tuples is None:
            return self._overlaps.overlap(route, overlap_part(register), HALF)
        before = self.before(register)
        return self._overlaps.behind(before[-1], route) if before else None

    def before(self, register: int) -> tuple[int, ...]:
        """The numbers of the paths before the one with these registers, where tuples are counted."""
        found = paths_of(self._plan, overlap_part(register))
        if found is None or any(number >= self._numbering.number for number in found):
            raise ValueError("there are no such paths")
        return found

    def prefix_of(self, block: int, total: int) -> tuple[int, int | None] | None:
        """The block and the register of a prefix with that sum, ``None`` if no register stands for it.

        Where a single prefix leads to the block, its register is not needed and left out.
        """
        offset = self._offsets[block]
        if isinstance(offset, SinglePrefix):
            return (block, None) if offset.sum == total else None
        return (block, (total + offset.amount) % WORD) if isinstance(offset, RegisterOffset) else None

    def route(self, block: int, total: int) -> Route:
        """The blocks and edges of a prefix; :class:`ValueError` if there is no such prefix."""
        return self._numbering.prefix(block, total)

    def path_id(self, block: int, total: int) -> int:
        """The number of a prefix among all paths (:class:`trodden.plan.routes.PathCount`).

        A block without successors ends every path that comes there, so that its prefixes are whole paths.
        """
        if self._whole is not self._numbering:
            return self._whole.number_of(self._numbering.prefix(block, total))
        if not self._numbering.successors(block):
            return total
        return self._numbering.number * (block + 1) + total
