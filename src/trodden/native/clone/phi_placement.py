"""Which of several definitions reaches a block, and where that takes a phi: SSA construction for clones.

A value that is defined in a block and in its clones has one version in each.  At a use either one version
reaches it alone, or several do and a phi has to join them.  That depends on the blocks alone, not on the
value, so it is computed once for all values of a block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def reaching_versions(
    versions: Collection[int],
    wanted: Iterable[int],
    predecessors: Sequence[Sequence[int]],
    successors: Sequence[Sequence[int]],
) -> dict[int, int]:
    """Which version reaches the starts of the ``wanted`` blocks, and of all blocks between.

    The result has the version's block, or ``~block`` where a phi at the start of that block joins several.
    A block that no version reaches is not in it.  No wanted block is a version.

    The iteration starts without phis: every version spreads along the edges to all blocks that no other has
    reached before, and a block at which two different values arrive gets a phi.  No such phi is superfluous.
    Suppose that a block needs none: then one block, a version or another that needs a phi, dominates it on
    all paths from versions, and no version lies between.  Whatever spreads to the block has passed the one
    that dominates it, which has a single value, so a single value arrives.  Hence phis are only ever added,
    and the result is minimal.
    """
    region = _region(versions, wanted, predecessors)
    phis: dict[int, int] = {}
    while True:
        reached = _spread(versions, phis, region, successors)
        more = [
            block
            for block, value in reached.items()
            if block not in phis and _differs(value, predecessors[block], versions, reached)
        ]
        if not more:
            return reached
        phis.update((block, ~block) for block in more)


def _region(
    versions: Collection[int], wanted: Iterable[int], predecessors: Sequence[Sequence[int]]
) -> set[int]:
    """The blocks from which a wanted one is reached without passing a version: where the value is live."""
    region = set(wanted)
    work = list(region)
    while work:
        for block in predecessors[work.pop()]:
            if block not in region and block not in versions:
                region.add(block)
                work.append(block)
    return region


def _spread(
    versions: Collection[int], phis: dict[int, int], region: set[int], successors: Sequence[Sequence[int]]
) -> dict[int, int]:
    """Let every version and phi spread to all blocks of the region that no other has reached before."""
    reached = dict(phis)
    work = [(block, block) for block in versions] + list(phis.items())
    while work:
        block, value = work.pop()
        for following in successors[block]:
            if following in region and following not in reached:
                reached[following] = value
                work.append((following, value))
    return reached


def _differs(value: int, before: Sequence[int], versions: Collection[int], reached: dict[int, int]) -> bool:
    """Whether another value than ``value`` arrives from one of the predecessors."""
    return any((block if block in versions else reached.get(block, value)) != value for block in before)
