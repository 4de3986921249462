"""The profile of a program that has never run (WL94 §6).

From features to branch probabilities (§3), from these to frequencies within a call (§4), from these and the
call graph to how often each function is invoked (§5); the frequency of a block is the product of its
frequency within a call and the number of invocations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from trodden.estimating.whole_program import started_functions, whole_program
from trodden.profile.estimated import Expected, estimated
from trodden.profile.model import Estimate, Profile
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.weigh.frequency.expected import expected_frequencies
from trodden.weigh.frequency.propagate import HIGHEST_WEIGHT
from trodden.weigh.heuristics.rates import Rates
from trodden.weigh.interprocedural.callgraph import KnownFunction, Procedure
from trodden.weigh.interprocedural.invocations import call_frequencies

Local = Callable[[UnitFacts, FunctionFacts], list[float]]
"""Returns how often one call of a function takes each of its edges."""


def local_estimate(facts: FunctionFacts, rates: Rates) -> list[float]:
    """How often one call of a function is expected to take each of its edges."""
    return expected_frequencies(facts.graph, facts.features, rates)


def estimate(program: str, units: Sequence[UnitFacts], rates: Rates, local: Local | None = None) -> Profile:
    """The profile that one run of a program is expected to have; nothing of it is run.

    ``local`` replaces :func:`local_estimate` if it is given.
    """
    functions = whole_program(units)
    edges = [
        local_estimate(facts, rates) if local is None else local(units[each.unit], facts)
        for facts, each in functions
    ]
    known = [each for _, each in functions]
    procedures = [_procedure(each, expected) for each, expected in zip(known, edges, strict=True)]
    calls = call_frequencies(procedures, also=started_functions(units, known)).invocations
    expected = [
        Expected(min(times, HIGHEST_WEIGHT / max(1.0, *each.blocks)), flow)
        for times, each, flow in zip(calls, procedures, edges, strict=True)
    ]
    return estimated(program, units, expected, Estimate(rates.name), list(_messages(known)))


def _procedure(known: KnownFunction, edges: Sequence[float]) -> Procedure:
    graph = known.graph
    return Procedure(
        symbol=known.symbol,
        unit=known.unit,
        blocks=[sum(edges[index] for index in ins) for ins in graph.in_edges[: graph.exit]],
        calls=[block.calls for block in known.features.blocks],
        local=known.local,
        taken=known.taken,
        signature=known.features.signature,
        aliases=known.aliases,
    )


def _messages(functions: Sequence[KnownFunction]) -> Iterator[str]:
    """Messages about what makes the estimate less accurate."""
    blind = sum(not each.features.blocks for each in functions)
    if blind:
        yield (
            f"{blind:,} of {len(functions):,} functions were built by an earlier trodden, which kept no"
            " features: they are estimated from their graphs alone, and what they call is not known"
        )
