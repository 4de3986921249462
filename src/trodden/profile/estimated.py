"""An estimate as a profile: how often each function is expected to be called, and what one call does.

The counts are expected frequencies for one run of the program: what one call of a function is expected to do,
times how often it is expected to be called (WL94 §6).  Both factors are kept, in a profile as in its file,
since what a function does when it is called is known even if nothing is expected to call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.errors import UsageError
from trodden.profile.assemble import EDGES, named, skipped_of
from trodden.profile.copies import join_copies
from trodden.profile.model import Estimate, FunctionProfile, Profile
from trodden.program.checked import ColumnError
from trodden.program.facts import FunctionFacts, UnitFacts

MOST_EXPECTED = 1e290
"""Far more than any estimate, and so little that all sums of such numbers are finite."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Of one function: ``calls`` is how often a run calls it, ``edges`` how often a call takes each edge."""

    calls: float
    edges: Sequence[float]


def one_of_each(units: Sequence[UnitFacts]) -> list[tuple[int, FunctionFacts]]:
    """The functions of a program with the indices of their units.

    Of the COMDAT copies of a function the linker keeps the first.
    """
    found: list[tuple[int, FunctionFacts]] = []
    shared: dict[str, tuple[int, FunctionFacts]] = {}
    for number, unit in enumerate(units):
        for facts in unit.functions:
            if facts.shared:
                shared.setdefault(facts.linkage_name, (number, facts))
            else:
                found.append((number, facts))
    return [*found, *shared.values()]


def estimated(
    program: str,
    units: Sequence[UnitFacts],
    expected: Sequence[Expected],
    estimate: Estimate,
    messages: Sequence[str] = (),
) -> Profile:
    """The profile in which ``expected[i]`` belongs to function ``i`` of :func:`one_of_each`."""
    functions = [
        _function(units[number], facts, what)
        for (number, facts), what in zip(one_of_each(units), expected, strict=True)
    ]
    return Profile(
        kind=EDGES,
        program=program,
        units=tuple(units),
        functions=named(join_copies(functions)),
        skipped=skipped_of(units),
        messages=tuple(messages),
        estimate=estimate,
    )


def _function(unit: UnitFacts, facts: FunctionFacts, expected: Expected) -> FunctionProfile:
    graph = facts.graph
    if expected.edges[graph.closing] != 1:
        raise ColumnError(f"a call of {facts.name} enters it once")
    edges = [expected.calls * each for each in expected.edges]
    blocks = [sum((edges[index] for index in ins), 0.0) for ins in graph.in_edges]
    if max(blocks) > MOST_EXPECTED:
        raise ColumnError(f"{facts.name} is expected more often than a number can hold")
    return FunctionProfile(
        facts=facts,
        files=unit.files,
        unit=unit.id,
        block_counts=blocks,
        edge_counts=edges,
        per_call=list(expected.edges),
    )


def mark(estimate: Estimate) -> str:
    """The text that marks an estimate wherever it is shown."""
    return f"estimate with the rates {estimate.rates}; the program was not run"


def need_counted(profile: Profile, where: str, instead: str) -> None:
    """Refuse the estimate in the file ``where``; ``instead`` is what to do."""
    if profile.estimate is not None:
        raise UsageError(refusal(where, instead))


def refusal(where: str, instead: str) -> str:
    """The message that an estimate cannot be used."""
    return f"{where}: is an estimate, no profile of a run; {instead}"
