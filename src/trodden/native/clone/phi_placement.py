"""Which of several blocks was passed last, wherever one wants to know it: what SSA form asks of copies.

A value that is defined in a block and in its copies has a version for each.  Where a use needs the value,
one of them reaches it, or several do and a phi has to choose.  That depends on the blocks alone, not on the
value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def reaching(
    versions: Collection[int],
    wanted: Iterable[int],
    predecessors: Sequence[Sequence[int]],
    successors: Sequence[Sequence[int]],
) -> dict[int, int]:
    """For the starts of the ``wanted`` blocks and of all on the way there: which version was passed last.

    The answer is the version's block, or ``~block`` where it takes a phi at the start of that block to know.
    A block that no version leads to is not in the answer.  ``wanted`` are none of the versions.

    Phis are put only where they are needed.  All begin as unneeded: each block takes whatever comes first,
    and a block to which something else comes as well needs a phi.  Were that a mistake, there would be one
    place further up that all which comes has passed, and then the same would have come both ways.  So phis
    are only ever added.
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
    """The blocks from which a wanted one is reached without passing a version."""
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
    """Let every version and phi run on until something else was there before."""
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
    """Whether something else than ``value`` comes from one of the blocks before."""
    return any((block if block in versions else reached.get(block, value)) != value for block in before)
