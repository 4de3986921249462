"""Copies of blocks in a function of LLVM IR, with SSA form mended.

A copy defines the values of its block anew, under names of its own.  Every use is then given the version that
reaches it, and where several versions do, a phi chooses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from trodden.native.clone.ssa_repair import Versions, turned
from trodden.native.ir.block import IRBlock
from trodden.native.ir.fresh_names import Names
from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME
from trodden.native.ir.rewriting import retarget
from trodden.native.ir.uses import Phi, read_phi, renamed

_ALONE = r'(?<![-\w%@.$"])'
"""What stands before a word that is no part of a name."""
_STRING = r'"(?:[^"\\]|\\.)*"'
_UNFIT = re.compile(
    rf"^  %{NAME} = (?:alloca|landingpad|catchpad|cleanuppad|catchswitch)\b"
    rf'|{_ALONE}(?:token|noduplicate|convergent|returns_twice)(?![-\w.$"])'
    rf'|{_ALONE}asm (?:\w+ )*"'
    r"|@llvm\.(?:coro|eh\.sjlj|seh|call\.preallocated)\."
    r"|@llvm\.experimental\.(?:convergence|gc|guard|deoptimize|widenable|stackmap|patchpoint)\b"
    r"|@(?:_*(?:sig)?setjmp|vfork|getcontext|savectx)\(",
    re.MULTILINE,
)
_FIT = frozenset({"br", "switch", "ret", "unreachable", "invoke"})
_MOVABLE = frozenset({"br", "switch", "invoke"})
"""Terminators whose targets are free to be others."""
_SCOPE = "@llvm.experimental.noalias.scope.decl("
_SCOPED = re.compile(rf"({_STRING})|, !(?:alias\.scope|noalias) !\d+")


def can_be_copied(block: IRBlock) -> bool:
    """Whether a copy of a block means the same as the block: quickly told, on the text alone."""
    return block.opcode in _FIT and _UNFIT.search(block.text) is None


def with_copies(
    ir: IRFunction,
    origins: Sequence[int],
    targets: Sequence[Sequence[int] | None],
    types: Collection[str] = (),
) -> IRFunction | None:
    """The function with further copies of some of its blocks.

    Blocks 0..n-1 are the function's own, the others are copies: ``origins[k]`` is the block that block n+k
    is a copy of.  ``targets[b]`` says for every block to which blocks its terminator goes, in the order of
    ``IRBlock.successors``; each is the block where it went or a copy of that.  ``None``: nothing leads to the
    block any more.  Whatever cannot be reached from block 0 is left as a block that holds only
    ``unreachable``, so that numbers stay.  ``types`` are the names of the module's named types.

    The answer is None where it cannot be done: a block cannot be copied, a terminator cannot lead elsewhere,
    a value is called like a type, or a phi is needed of a value whose type the text does not tell.
    """
    if not all(can_be_copied(ir.blocks[origin]) for origin in set(origins)):
        return None
    whole = [*range(len(ir.blocks)), *origins]
    reached = _reached(ir, whole, targets)
    for origin, leads in zip(whole, reached, strict=True):
        free = ir.blocks[origin].opcode in _MOVABLE
        if leads is not None and not free and any(whole[target] != target for target in leads):
            return None
    names = Names(ir)
    labels = [block.label for block in ir.blocks] + [names.label() for _ in origins]
    versions = Versions(ir, whole, reached, labels, names)
    if any(name.removeprefix("%") in versions.home for name in types):
        return None
    if any(versions.definitions[name].type is None for name, _ in versions.phis):
        return None
    writer = _Writer(ir, labels, versions)
    return IRFunction(ir.symbol, ir.header, [writer.block(number) for number in range(len(whole))])


def _reached(
    ir: IRFunction, origins: Sequence[int], targets: Sequence[Sequence[int] | None]
) -> list[Sequence[int] | None]:
    """The targets of all blocks that block 0 leads to."""
    if len(targets) != len(origins) or 0 in origins[1:]:
        raise ValueError("targets are for all blocks and copies, of which block 0 has none")
    numbers = {block.label: number for number, block in enumerate(ir.blocks)}
    reached: list[Sequence[int] | None] = [None] * len(targets)
    work = [0]
    while work:
        number = work.pop()
        leads = targets[number]
        went = [numbers[label] for label in ir.blocks[origins[number]].successors]
        if leads is None or [origins[target] for target in leads] != went:
            raise ValueError(f"block {number} leads to {went} and their copies, not to {leads}")
        if reached[number] is None:
            reached[number] = leads
            work += [target for target in leads if reached[target] is None]
    return reached


class _Writer:
    """Writes the text of blocks."""

    def __init__(self, ir: IRFunction, labels: Sequence[str], versions: Versions) -> None:
        self.ir = ir
        self.labels = labels
        self.versions = versions
        numbers = versions.numbers
        self.before = turned([[numbers[label] for label in block.successors] for block in ir.blocks])
        self.scoped = any(_SCOPE in block.text for block in ir.blocks)

    def block(self, number: int) -> IRBlock:
        """A block or a copy of one."""
        label, leads, origins = self.labels[number], self.versions.targets[number], self.versions.origins
        if leads is None:
            return IRBlock(label, f"{label}:\n  unreachable", len(label) + 2, "unreachable", ())
        block = self.ir.blocks[origins[number]]
        found = self.versions.found[origins[number]]
        copy = number >= len(self.ir.blocks)
        others = copy or self.versions.predecessors[number] != self.before[number]
        added = self.versions.added.get(number, ())
        elsewhere = {place: self.labels[to] for place, to in enumerate(leads) if to != origins[to]}
        if not (others or elsewhere or added or found.any):
            return block
        start = block.body_start
        head = f"{label}:\n" if others else block.text[:start]
        head += "".join(f"{self._choice(name, number)}\n" for name in added)
        body, terminator = block.text[start : block.terminator_start], block.text[block.terminator_start :]
        if others or found.any:
            rename = self._renaming(number, others)
            body, terminator = rename(body), rename(terminator)
        if elsewhere:
            terminator = retarget(block, terminator, elsewhere)
        if copy and self.scoped:
            body, terminator = _unscoped(body), _unscoped(terminator)
        labels = tuple(self.labels[target] for target in leads)
        return IRBlock(label, f"{head}{body}{terminator}", len(head) + len(body), block.opcode, labels)

    def _renaming(self, number: int, others: bool) -> Callable[[str], str]:
        """What changes the text of a block for the versions that it sees; ``others`` come before it now."""

        def value(name: str) -> str:
            return self.versions.seen(name, number)

        def phi(line: str) -> str:
            given = read_phi(line)
            taken = any(came[1:] in self.versions.home for came, _ in given.entries)
            return self._phi(given, number) if others or taken else line

        return lambda text: renamed(text, value, phi)

    def _phi(self, phi: Phi, number: int) -> str:
        """A phi of the function's own with an entry for each edge that there is now."""
        waiting: dict[int, list[int]] = {}
        for block in self.versions.predecessors[number]:
            waiting.setdefault(self.versions.origins[block], []).append(block)
        entries: list[str] = []
        for value, label in phi.entries:
            for block in waiting.pop(self.versions.numbers[label], ()):
                came = self.versions.seen(value[1:], block) if value.startswith("%") else value
                entries.append(f"[ {came}, %{self.labels[block]} ]")
        name = self.versions.defined(phi.name, number)
        return f"  {name} = phi {phi.kind} {', '.join(entries)}{phi.tail}"

    def _choice(self, name: str, number: int) -> str:
        """A new phi, which chooses between versions of a value."""
        entries = [
            f"[ {self.versions.seen(name, block)}, %{self.labels[block]} ]"
            for block in self.versions.predecessors[number]
        ]
        type_ = self.versions.definitions[name].type
        return f"  {self.versions.phis[name, number]} = phi {type_} {', '.join(entries)}"


def _unscoped(text: str) -> str:
    """Text without word of what aliases nothing.

    That word holds for one passage through the place that declares it.  A block and its copy may be passed
    one after the other, in two passages, and then what one does may well concern the other.
    """
    return _SCOPED.sub(lambda match: match.group(1) or "", text)
