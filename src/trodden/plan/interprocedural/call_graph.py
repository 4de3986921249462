"""Recursion, and which call sites paths lead through (MR98 §3.2, §8).

MR98 treats the back edges of a depth-first search of the call graph as recursive call sites, so that the rest
of the call graph is acyclic.  §8 does the same to further call sites: they are *cut*, the others are *kept*.
A cut call is passed by the caller's path, and its callee starts a path of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from trodden.plan.interprocedural.program import (
    Program,
    Site,
    callee_of,
    direct_sites,
    obstacle,
    reached_sites,
)

Callees = Sequence[Sequence[tuple[Site, int]]]

RECURSIVE = "it is recursive"
"""Why a call that closes a cycle of calls cannot be kept."""


def callees_by_caller(sites: Iterable[tuple[Site, int]], procedures: int) -> list[list[tuple[Site, int]]]:
    """The sites of each procedure with their callees."""
    found: list[list[tuple[Site, int]]] = [[] for _ in range(procedures)]
    for site, callee in sites:
        found[site.procedure].append((site, callee))
    return found


def search_calls(program: Program, callees: Callees) -> tuple[list[int], set[Site]]:
    """Procedures with callees before callers, and the call sites that close a cycle.

    Depth first, from the procedures that may be entered, in their order, then from all others.
    """
    state = [0] * len(program)
    order: list[int] = []
    recursive: set[Site] = set()
    starts = [number for number, procedure in enumerate(program) if procedure.entered]
    for start in [*starts, *range(len(program))]:
        work = [(start, 0)] if state[start] == 0 else []
        while work:
            number, position = work.pop()
            state[number] = 1
            if position == len(callees[number]):
                state[number] = 2
                order.append(number)
                continue
            work.append((number, position + 1))
            site, callee = callees[number][position]
            if state[callee] == 1:
                recursive.add(site)
            elif state[callee] == 0:
                work.append((callee, 0))
    return order, recursive


def sites_that_can_be_kept(program: Program) -> list[tuple[Site, int]]:
    """The sites that paths can lead through, all at once, with their callees."""
    found = [(site, callee) for site, callee in direct_sites(program) if obstacle(program, site) is None]
    _, recursive = search_calls(program, callees_by_caller(found, len(program)))
    return [(site, callee) for site, callee in found if site not in recursive]


def sites_that_cannot_be_kept(program: Program) -> dict[Site, str]:
    """All other call sites that are reached, with the reason."""
    possible = {site for site, _ in sites_that_can_be_kept(program)}
    return {
        site: obstacle(program, site) or RECURSIVE for site in reached_sites(program) if site not in possible
    }


def _leaf_callees(program: Program, _: Site, callee: int) -> bool:
    return not any(program[callee].calls.values())


def _local_callees(program: Program, _: Site, callee: int) -> bool:
    return program[callee].local


def _same_file(program: Program, site: Site, callee: int) -> bool:
    return program[site.procedure].file == program[callee].file


def _everything(*_: object) -> bool:
    return True


STRATEGIES: dict[str, Callable[[Program, Site, int], bool]] = {
    "leaves": _leaf_callees,
    "local": _local_callees,
    "file": _same_file,
    "program": _everything,
}
"""Which sites are kept: the strategies 3, 1 and 2 of MR98 §8, and §5."""


def sites_to_keep(program: Program, strategy: str) -> frozenset[Site]:
    """The sites that one of the ``STRATEGIES`` keeps."""
    wanted = STRATEGIES[strategy]
    return frozenset(
        site for site, callee in sites_that_can_be_kept(program) if wanted(program, site, callee)
    )


def kept_call_graph(program: Program, kept: Collection[Site]) -> tuple[list[int], Callees]:
    """Procedures with callees before callers, and the kept calls of each.

    :class:`ValueError` names the site if paths cannot lead through one of them.
    """
    chosen = []
    for site in sorted(kept):
        callee, problem = callee_of(program, site), obstacle(program, site)
        if callee is None or problem is not None:
            raise ValueError(f"{describe(program, site)} cannot be kept: {problem}")
        chosen.append((site, callee))
    callees = callees_by_caller(chosen, len(program))
    order, recursive = search_calls(program, callees)
    if recursive:
        raise ValueError(f"{describe(program, min(recursive))} cannot be kept: {RECURSIVE}")
    return order, callees


def describe(program: Program, site: Site) -> str:
    """A call site in words."""
    graph = program[site.procedure].graph
    return f"{graph.name}: call {site.call + 1} in block {graph.labels[site.block]}"


def most_enters(program: Program, kept: Collection[Site], root: int) -> list[int]:
    """How often a path that starts in ``root`` can enter each procedure at most (maxEnters in MR98 §3.2)."""
    order, callees = kept_call_graph(program, kept)
    enters = [0] * len(program)
    enters[root] = 1
    for number in reversed(order):
        for _, callee in callees[number]:
            enters[callee] += enters[number]
    return enters
