"""The values of a function some of whose blocks have copies: which version of each is seen where.

Names of values are without their sign here, as they stand in the text of the function; names of versions are
with it, as they will stand there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trodden.native.clone.phi_placement import reaching
from trodden.native.ir.fresh_names import Names
from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.uses import Mentions, mentions

_NOTHING = "poison"


class Versions:
    """Which version of a value reaches which block, and the phis that choose between versions.

    Blocks that nothing leads to (``targets`` None) have no part in it.  Only values of blocks that are not
    just what they were, once, have versions.
    """

    def __init__(
        self,
        ir: IRFunction,
        origins: Sequence[int],
        targets: Sequence[Sequence[int] | None],
        labels: Sequence[str],
        names: Names,
    ) -> None:
        self.origins = origins
        self.targets = targets
        self.predecessors = turned(targets)
        self.numbers = {block.label: number for number, block in enumerate(ir.blocks)}
        self.home: dict[str, int] = {}
        """The block that a value is defined in, the function's own one."""
        self.definitions: dict[str, Instruction] = {}
        """The instructions that define values."""
        self.phis: dict[tuple[str, int], str] = {}
        """The phis that are needed, by value and block."""
        self.added: dict[int, list[str]] = {}
        """The values that have a phi in a block."""
        self._names = names
        self._named: dict[tuple[str, int], str] = {}
        self._blocks = self._several()
        self._define(ir, labels)
        self.found: list[Mentions] = [mentions(block, self.home) for block in ir.blocks]
        """What the function's own blocks mention."""
        self._reaching = self._reach()
        for name, number in self._uses():
            self._want(name, number)

    def defined(self, name: str, number: int) -> str:
        """The version of a value that a block defines."""
        return self._named.get((name, number), f"%{name}")

    def seen(self, name: str, number: int) -> str:
        """What is seen for a value in a block behind its definition there, if it has one, and at its end."""
        if name not in self.home or self.home[name] == self.origins[number]:
            return self.defined(name, number)
        return self._at_start(name, number)

    def _at_start(self, name: str, number: int) -> str:
        """What reaches a block: nothing if it is a phi that only debug records would need."""
        value = self._reaching[self.home[name]].get(number)
        if value is None:
            return _NOTHING
        return self.defined(name, value) if value >= 0 else self.phis.get((name, ~value), _NOTHING)

    def _several(self) -> dict[int, list[int]]:
        """The reached ones among each block and its copies, if that is not just the block."""
        blocks: dict[int, list[int]] = {}
        for number, origin in enumerate(self.origins):
            reached = blocks.setdefault(origin, [])
            if self.targets[number] is not None:
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

    def _uses(self, records: bool = False) -> Iterator[tuple[str, int]]:
        """The values that are needed from before a block, and the block."""
        for number, origin in enumerate(self.origins):
            found = self.found[origin]
            if self.targets[number] is None or not found.any:
                continue
            for name in (*found.values, *(found.recorded if records else ())):
                if self.home[name] != origin:
                    yield name, number
            for phi in found.phis:
                given = {self.numbers[label]: value[1:] for value, label in phi.entries if value[0] == "%"}
                for block in self.predecessors[number]:
                    name = given.get(self.origins[block], "")
                    if name in self.home and self.home[name] != self.origins[block]:
                        yield name, block

    def _reach(self) -> dict[int, dict[int, int]]:
        wanted: dict[int, set[int]] = {origin: set() for origin in self._blocks}
        for name, number in self._uses(records=True):
            wanted[self.home[name]].add(number)
        successors = [leads or () for leads in self.targets]
        return {
            origin: reaching(frozenset(self._blocks[origin]), blocks, self.predecessors, successors)
            for origin, blocks in wanted.items()
        }

    def _want(self, name: str, number: int) -> None:
        """Make the phis that are needed to know a value at the start of a block."""
        origin = self.home[name]
        reached = self._reaching[origin]
        work = [number]
        while work:
            value = reached.get(work.pop(), 0)
            if value >= 0 or (name, ~value) in self.phis:
                continue
            self.phis[name, ~value] = self._names.choice(name)
            self.added.setdefault(~value, []).append(name)
            work += [block for block in self.predecessors[~value] if self.origins[block] != origin]


def turned(targets: Sequence[Sequence[int] | None]) -> list[list[int]]:
    """The blocks before each block, one for each edge."""
    before: list[list[int]] = [[] for _ in targets]
    for number, leads in enumerate(targets):
        for target in leads or ():
            before[target].append(number)
    return before
