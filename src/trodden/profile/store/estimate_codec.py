"""An estimate as columns of numbers, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trodden.profile.estimated import MOST_EXPECTED, Expected, estimated, one_of_each
from trodden.profile.model import Estimate, FunctionProfile, Profile
from trodden.program.checked import ColumnError, floats, same_length, text
from trodden.program.facts import UnitFacts


def estimate_to_columns(profile: Profile) -> dict[str, Any]:
    """What a file stores of an estimate beside its units; numbers are stored exactly."""
    assert profile.estimate is not None
    functions = list(_in_order(profile))
    return {
        "rates": profile.estimate.rates,
        "calls": [float(each.entries) for each in functions],
        "edges": [[float(edge) for edge in each.per_call] for each in functions],
    }


def _in_order(profile: Profile) -> Iterator[FunctionProfile]:
    """The functions as :func:`one_of_each` lists them."""
    known = {
        (copy.unit, id(copy.facts)): copy
        for each in profile.functions.values()
        for copy in each.copies or (each,)
    }
    for number, facts in one_of_each(profile.units):
        yield known[profile.units[number].id, id(facts)]


def estimate_from_columns(
    document: Any, program: str, units: Sequence[UnitFacts], messages: Sequence[str]
) -> Profile:
    """The profile; :class:`ColumnError` if the columns are not valid."""
    functions = one_of_each(units)
    calls, edges = floats(document["calls"], MOST_EXPECTED), document["edges"]
    if type(edges) is not list:
        raise ColumnError("a list of columns was expected")
    same_length(functions, calls, edges)
    expected = [
        Expected(times, floats(each, MOST_EXPECTED)) for times, each in zip(calls, edges, strict=True)
    ]
    for (_, facts), what in zip(functions, expected, strict=True):
        same_length(facts.graph.edges, what.edges)
    return estimated(program, units, expected, Estimate(text(document["rates"])), messages)
