"""Clones of blocks in a function of LLVM IR, with SSA form repaired.

A clone defines the values of its block once more, under names of its own.  Every use then gets the version
whose definition dominates it; where several versions reach a use, a phi joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from trodden.native.clone.ssa_repair import Versions, find_versions, predecessors_of
from trodden.native.ir.block import IRBlock
from trodden.native.ir.fresh_names import FreshNames
from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.rewriting import retarget, strip_attachments
from trodden.native.ir.uses import rename_uses

_CLONABLE = frozenset({"br", "switch", "ret", "unreachable", "invoke"})
"""Terminators of blocks that can be cloned."""
_REDIRECTABLE = frozenset({"br", "switch", "invoke"})
"""Terminators whose successors may be other blocks."""
_UNCLONABLE = frozenset({"alloca", "landingpad", "catchpad", "cleanuppad", "catchswitch"})
_UNCLONABLE_ATTRIBUTES = frozenset({"noduplicate", "convergent", "returns_twice"})
_UNCLONABLE_INTRINSICS = (
    *("llvm.coro.", "llvm.eh.sjlj.", "llvm.seh.", "llvm.call.preallocated."),
    *("llvm.experimental.convergence", "llvm.experimental.gc", "llvm.experimental.guard"),
    *("llvm.experimental.deoptimize", "llvm.experimental.widenable"),
    *("llvm.experimental.stackmap", "llvm.experimental.patchpoint"),
)
_SAVES_CONTEXT = frozenset({"setjmp", "sigsetjmp", "vfork", "getcontext", "savectx"})
_SCOPE_DECLARATION = "llvm.experimental.noalias.scope.decl"
_SCOPED = frozenset({"alias.scope", "noalias"})


def can_be_cloned(block: IRBlock) -> bool:
    """Whether a clone of a block has the same meaning as the block, as far as its text says."""
    return block.opcode in _CLONABLE and all(map(_is_clonable, block.instructions))


def _is_clonable(instruction: Instruction) -> bool:
    if not instruction.is_call:
        return instruction.opcode not in _UNCLONABLE
    callee = instruction.callee
    if callee is None and instruction.assembly is not None:
        return False
    if callee is not None and (
        callee.lstrip("_") in _SAVES_CONTEXT or callee.startswith(_UNCLONABLE_INTRINSICS)
    ):
        return False
    if not _UNCLONABLE_ATTRIBUTES.isdisjoint(instruction.attributes):
        return False
    return not instruction.has_token  # Tokens cannot be joined by phis.


def add_clones(
    ir: IRFunction,
    origins: Sequence[int],
    successors: Sequence[Sequence[int] | None],
    types: Collection[str] = (),
) -> IRFunction | None:
    """The function with clones of some of its blocks.

    Blocks 0..n-1 are the function's own, the others are clones: ``origins[k]`` is the block that block n+k
    is a clone of.  ``successors[b]`` are the successors of every block, in the order of
    ``IRBlock.successors``; each is the block that it was or a clone of that.  ``None``: the block has become
    unreachable.  Whatever cannot be reached from block 0 is left as a block that contains only
    ``unreachable``, so that block numbers do not change.  ``types`` are the names of the module's named
    types.

    The result is None where it cannot be done: a block cannot be cloned, a terminator cannot have other
    successors, a value has the name of a type, or a phi is needed for a value whose type does not
    follow from the text.
    """
    if not all(can_be_cloned(ir.blocks[origin]) for origin in set(origins)):
        return None
    whole = [*range(len(ir.blocks)), *origins]
    reached = _reached(ir, whole, successors)
    for origin, following in zip(whole, reached, strict=True):
        redirectable = ir.blocks[origin].opcode in _REDIRECTABLE
        if following is not None and not redirectable and any(whole[block] != block for block in following):
            return None
    names = FreshNames(ir)
    labels = [block.label for block in ir.blocks] + [names.label() for _ in origins]
    versions = find_versions(ir, whole, reached, labels, names)
    if any(name.removeprefix("%") in versions.code.home for name in types):
        return None
    if any(versions.code.definitions[name].type is None for name, _ in versions.phis):
        return None
    writer = _Writer(ir, labels, versions)
    return IRFunction(ir.symbol, ir.header, [writer.block(number) for number in range(len(whole))])


def _reached(
    ir: IRFunction, origins: Sequence[int], successors: Sequence[Sequence[int] | None]
) -> list[Sequence[int] | None]:
    """The successors of all blocks that are reachable from block 0."""
    if len(successors) != len(origins) or 0 in origins[1:]:
        raise ValueError("successors are for all blocks and clones, of which block 0 has none")
    numbers = {block.label: number for number, block in enumerate(ir.blocks)}
    reached: list[Sequence[int] | None] = [None] * len(successors)
    work = [0]
    while work:
        number = work.pop()
        following = successors[number]
        before = [numbers[label] for label in ir.blocks[origins[number]].successors]
        if following is None or [origins[block] for block in following] != before:
            raise ValueError(f"block {number} has successors {before} and their clones, not {following}")
        if reached[number] is None:
            reached[number] = following
            work += [block for block in following if reached[block] is None]
    return reached


class _Writer:
    """Writes the text of blocks."""

    def __init__(self, ir: IRFunction, labels: Sequence[str], versions: Versions) -> None:
        self.ir = ir
        self.labels = labels
        self.versions = versions
        self.code = versions.code
        numbers = self.code.numbers
        self.before = predecessors_of([[numbers[label] for label in block.successors] for block in ir.blocks])
        self.added: dict[int, list[str]] = {}
        for name, number in versions.phis:
            self.added.setdefault(number, []).append(name)
        self.scoped = any(block.names_function(_SCOPE_DECLARATION) for block in ir.blocks)

    def block(self, number: int) -> IRBlock:
        """A block or a clone of one."""
        label, successors = self.labels[number], self.code.successors[number]
        origins = self.code.origins
        if successors is None:
            return IRBlock(label, f"{label}:\n  unreachable", len(label) + 2, "unreachable", ())
        block = self.ir.blocks[origins[number]]
        uses = self.code.uses[origins[number]]
        clone = number >= len(self.ir.blocks)
        others = clone or self.code.predecessors[number] != self.before[number]
        added = self.added.get(number, ())
        redirected = {at: self.labels[to] for at, to in enumerate(successors) if to != origins[to]}
        if not (others or redirected or added or uses.any):
            return block
        start = block.body_start
        head = f"{label}:\n" if others else block.text[:start]
        head += "".join(f"{self._joining_phi(name, number)}\n" for name in added)
        body = block.text[start : block.terminator_start]
        terminator = block.text[block.terminator_start :]
        if others or uses.any:
            rename = self._renaming(number, others)
            body, terminator = rename(body), rename(terminator)
        if redirected:
            terminator = retarget(block, terminator, redirected)
        if clone and self.scoped:
            # A scope declaration applies to one execution of the block that contains it.  A block and its
            # clone may run one after the other: two executions, whose accesses may alias each other.
            body, terminator = strip_attachments(body, _SCOPED), strip_attachments(terminator, _SCOPED)
        labels = tuple(self.labels[successor] for successor in successors)
        return IRBlock(label, f"{head}{body}{terminator}", len(head) + len(body), block.opcode, labels)

    def _renaming(self, number: int, others: bool) -> Callable[[str], str]:
        """What puts the versions that reach a block into its text; ``others``: it has new predecessors."""

        def value(name: str) -> str:
            return self.versions.reaching_end(name, number)

        def phi(given: Instruction) -> str:
            affected = any(value[1:] in self.code.home for value, _ in given.incoming)
            return self._phi(given, number) if others or affected else given.text

        return lambda text: rename_uses(text, value, phi)

    def _phi(self, phi: Instruction, number: int) -> str:
        """A phi of the function's own, with one incoming value for each edge that there is now."""
        waiting: dict[int, list[int]] = {}
        for block in self.code.predecessors[number]:
            waiting.setdefault(self.code.origins[block], []).append(block)
        incoming: list[str] = []
        for value, label in phi.incoming:
            for block in waiting.pop(self.code.numbers[label], ()):
                version = self.versions.reaching_end(value[1:], block) if value.startswith("%") else value
                incoming.append(f"[ {version}, %{self.labels[block]} ]")
        name = self.versions.defined(phi.result or "", number)
        return f"  {name} = phi {phi.phi_type} {', '.join(incoming)}{phi.attachment_text}"

    def _joining_phi(self, name: str, number: int) -> str:
        """A new phi, which joins versions of a value."""
        incoming = [
            f"[ {self.versions.reaching_end(name, block)}, %{self.labels[block]} ]"
            for block in self.code.predecessors[number]
        ]
        type_ = self.code.definitions[name].type
        return f"  {self.versions.phis[name, number]} = phi {type_} {', '.join(incoming)}"
