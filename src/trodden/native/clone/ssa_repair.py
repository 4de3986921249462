"""SSA form after cloning: which version of each value reaches which block, and which phis that takes.

Names of values are without the ``%`` here, as they are in the text of the function; names of versions are
with it, as they will be printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trodden.native.clone.phi_placement import reaching_versions
from trodden.native.ir.fresh_names import FreshNames
from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.uses import Uses, uses_of

_NOTHING = "poison"


@dataclass(frozen=True)
class ClonedCode:
    """The blocks and clones of a function, and the values of blocks that have clones or became unreachable.

    ``origins[b]`` is the block of the function that block ``b`` is, or is a clone of.  Unreachable blocks
    (``successors`` None) do not count.  ``numbers`` are the function's own blocks by label, ``home`` is the
    one that defines a value, ``definitions`` are the instructions that do, ``uses`` the uses in each of them.
    """

    origins: Sequence[int]
    successors: Sequence[Sequence[int] | None]
    predecessors: Sequence[Sequence[int]]
    numbers: Mapping[str, int]
    home: Mapping[str, int]
    definitions: Mapping[str, Instruction]
    uses: Sequence[Uses]

    def upward_exposed(self, records: bool = False) -> Iterator[tuple[str, int]]:
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


@dataclass(frozen=True)
class Versions:
    """The versions of values; ``phis`` are those that join them, by value and block.

    ``names`` are the names of versions in clones, by value and clone.  ``reaching`` says by home, for values
    that are defined there, which block's version reaches the start of a block, as
    :func:`~trodden.native.clone.phi_placement.reaching_versions` does.
    """

    code: ClonedCode
    names: Mapping[tuple[str, int], str]
    reaching: Mapping[int, Mapping[int, int]]
    phis: Mapping[tuple[str, int], str]

    def defined(self, name: str, number: int) -> str:
        """The version of a value that a block defines."""
        return self.names.get((name, number), f"%{name}")

    def reaching_end(self, name: str, number: int) -> str:
        """The version of a value at the end of a block: its own one if it defines the value."""
        home = self.code.home.get(name)
        if home is None or home == self.code.origins[number]:
            return self.defined(name, number)
        return self._reaching_start(name, number)

    def _reaching_start(self, name: str, number: int) -> str:
        """The version at the start of a block; none if that is a phi that only debug records would use."""
        value = self.reaching[self.code.home[name]].get(number)
        if value is None:
            return _NOTHING
        return self.defined(name, value) if value >= 0 else self.phis.get((name, ~value), _NOTHING)


def find_versions(
    ir: IRFunction,
    origins: Sequence[int],
    successors: Sequence[Sequence[int] | None],
    labels: Sequence[str],
    names: FreshNames,
) -> Versions:
    """The versions of all values of blocks that have clones, or that were replaced by one."""
    cloned = _cloned_blocks(origins, successors)
    definitions = {origin: list(ir.blocks[origin].definitions()) for origin in cloned}
    home = {name: origin for origin, found in definitions.items() for name, _ in found}
    code = ClonedCode(
        origins=origins,
        successors=successors,
        predecessors=predecessors_of(successors),
        numbers={block.label: number for number, block in enumerate(ir.blocks)},
        home=home,
        definitions=dict(pair for found in definitions.values() for pair in found),
        uses=[uses_of(block, home) for block in ir.blocks],
    )
    named = {
        (name, number): names.version(name, labels[number])
        for name, origin in home.items()
        for number in cloned[origin]
        if number != origin
    }
    reaching = _reaching(code, cloned)
    return Versions(code, named, reaching, _name_phis(code, reaching, names))


def _cloned_blocks(
    origins: Sequence[int], successors: Sequence[Sequence[int] | None]
) -> dict[int, list[int]]:
    """The reachable ones among each block and its clones, if that is not just the block."""
    blocks: dict[int, list[int]] = {}
    for number, origin in enumerate(origins):
        reached = blocks.setdefault(origin, [])
        if successors[number] is not None:
            reached.append(number)
    return {origin: reached for origin, reached in blocks.items() if reached != [origin]}


def _reaching(code: ClonedCode, cloned: Mapping[int, Sequence[int]]) -> dict[int, dict[int, int]]:
    """Which versions reach the blocks that need them."""
    wanted: dict[int, set[int]] = {origin: set() for origin in cloned}
    for name, number in code.upward_exposed(records=True):
        wanted[code.home[name]].add(number)
    successors = [following or () for following in code.successors]
    return {
        origin: reaching_versions(frozenset(cloned[origin]), blocks, code.predecessors, successors)
        for origin, blocks in wanted.items()
    }


def _name_phis(
    code: ClonedCode, reaching: Mapping[int, Mapping[int, int]], names: FreshNames
) -> dict[tuple[str, int], str]:
    """Name the phis that uses in instructions need, and the phis that those need in turn."""
    phis: dict[tuple[str, int], str] = {}
    for name, needed_at in code.upward_exposed():
        origin = code.home[name]
        work = [needed_at]
        while work:
            value = reaching[origin].get(work.pop(), 0)
            if value >= 0 or (name, ~value) in phis:
                continue
            phis[name, ~value] = names.phi(name)
            work += [block for block in code.predecessors[~value] if code.origins[block] != origin]
    return phis


def predecessors_of(successors: Sequence[Sequence[int] | None]) -> list[list[int]]:
    """The predecessors of each block, one for each edge."""
    before: list[list[int]] = [[] for _ in successors]
    for number, following in enumerate(successors):
        for block in following or ():
            before[block].append(number)
    return before
