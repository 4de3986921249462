"""SSA form after cloning: which version of each value reaches which block, and which phis that takes.

Names of values are without the ``%`` here, as they are in the text of the function; names of versions are
with it, as they will be printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trodden.native.clone.phi_placement import reaching_versions
from trodden.native.ir.fresh_names import FreshNames
from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.uses import Uses, uses_of

_NOTHING = "poison"


class Versions:
    """The versions of values, and the phis that join them.

    Unreachable blocks (``successors`` None) do not count.  Only values of blocks that have clones, or that
    were replaced by one, have versions.
    """

    def __init__(
        self,
        ir: IRFunction,
        origins: Sequence[int],
        successors: Sequence[Sequence[int] | None],
        labels: Sequence[str],
        names: FreshNames,
    ) -> None:
        self.origins = origins
        self.successors = successors
        self.predecessors = predecessors_of(successors)
        self.numbers = {block.label: number for number, block in enumerate(ir.blocks)}
        self.home: dict[str, int] = {}
        """The block that defines a value, the function's own one."""
        self.definitions: dict[str, Instruction] = {}
        """The instructions that define values."""
        self.phis: dict[tuple[str, int], str] = {}
        """The phis that are needed, by value and block."""
        self.added: dict[int, list[str]] = {}
        """The values that have a phi in a block."""
        self._names = names
        self._named: dict[tuple[str, int], str] = {}
        self._blocks = self._cloned()
        self._define(ir, labels)
        self.uses: list[Uses] = [uses_of(block, self.home) for block in ir.blocks]
        """The uses in the function's own blocks."""
        self._reaching = self._reach()
        for name, number in self._upward_exposed():
            self._need(name, number)

    def defined(self, name: str, number: int) -> str:
        """The version of a value that a block defines."""
        return self._named.get((name, number), f"%{name}")

    def reaching_end(self, name: str, number: int) -> str:
        """The version of a value at the end of a block: its own one if it defines the value."""
        if name not in self.home or self.home[name] == self.origins[number]:
            return self.defined(name, number)
        return self._reaching_start(name, number)

    def _reaching_start(self, name: str, number: int) -> str:
        """The version at the start of a block; none if that is a phi that only debug records would use."""
        value = self._reaching[self.home[name]].get(number)
        if value is None:
            return _NOTHING
        return self.defined(name, value) if value >= 0 else self.phis.get((name, ~value), _NOTHING)

    def _cloned(self) -> dict[int, list[int]]:
        """The reachable ones among each block and its clones, if that is not just the block."""
        blocks: dict[int, list[int]] = {}
        for number, origin in enumerate(self.origins):
            reached = blocks.setdefault(origin, [])
            if self.successors[number] is not None:
                reached.append(number)
        return {origin: reached for origin, reached in blocks.items() if reached != [origin]}

    def _define(self, ir: IRFunction, labels: Sequence[str]) -> None:
        for origin, versions in self._blocks.items():
            for name, instruction in ir.blocks[origin].definitions():
                self.home[name] = origin
                self.definitions[name] = instruction
                for number in versions:
                    if number != origin:
                        self._named[name, number] = self._names.version(name, labels[number])

    def _upward_exposed(self, records: bool = False) -> Iterator[tuple[str, int]]:
        """The uses that are not defined in their own block, with the block at whose start they are needed."""
        for number, origin in enumerate(self.origins):
            found = self.uses[origin]
            if self.successors[number] is None or not found.any:
                continue
            for name in (*found.values, *(found.recorded if records else ())):
                if self.home[name] != origin:
                    yield name, number
            for phi in found.phis:
                given = {self.numbers[label]: value[1:] for value, label in phi.incoming if value[0] == "%"}
                for block in self.predecessors[number]:
                    name = given.get(self.origins[block], "")
                    if name in self.home and self.home[name] != self.origins[block]:
                        yield name, block

    def _reach(self) -> dict[int, dict[int, int]]:
        wanted: dict[int, set[int]] = {origin: set() for origin in self._blocks}
        for name, number in self._upward_exposed(records=True):
            wanted[self.home[name]].add(number)
        successors = [following or () for following in self.successors]
        return {
            origin: reaching_versions(frozenset(self._blocks[origin]), blocks, self.predecessors, successors)
            for origin, blocks in wanted.items()
        }

    def _need(self, name: str, number: int) -> None:
        """Name the phis that a value takes at the start of a block."""
        origin = self.home[name]
        reached = self._reaching[origin]
        work = [number]
        while work:
            value = reached.get(work.pop(), 0)
            if value >= 0 or (name, ~value) in self.phis:
                continue
            self.phis[name, ~value] = self._names.phi(name)
            self.added.setdefault(~value, []).append(name)
            work += [block for block in self.predecessors[~value] if self.origins[block] != origin]


def predecessors_of(successors: Sequence[Sequence[int] | None]) -> list[list[int]]:
    """The predecessors of each block, one for each edge."""
    before: list[list[int]] = [[] for _ in successors]
    for number, following in enumerate(successors):
        for block in following or ():
            before[block].append(number)
    return before
