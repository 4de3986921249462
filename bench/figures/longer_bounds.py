"""How well longer paths are known, by the degree of overlaps: TZG04 Table 1, Figures 5 and 6, Table 8.

All degrees are those of one profile of the largest degree, from which each lower one follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from bench.figures.crossings import KINDS, ONLY_PATHS, Crossed, Functions, Tables
from trodden.plan.routes import PathEnd
from trodden.profile.model import Profile
from trodden.recover.bounds.fixed_point import fixed_point

DEGREES = (ONLY_PATHS, 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""The degrees of the figures, as far as a program has them."""

_SHARE = 3
"""The paper chooses about this part of the largest degree."""

_MOST_EQUATIONS = 1 << 16
"""A table with more pairs is not solved pair by pair, but by its sums, which is never wider."""


def third_of_largest(profile: Profile) -> int:
    """A third of the largest degree of everything that was crossed, rounded up."""
    return _third(list(Functions(profile).crossed()))


def _third(crossed: Iterable[Crossed]) -> int:
    return -(-max((each.largest for each in crossed), default=0) // _SHARE)


def longer_bounds(profile: Profile) -> dict[str, Any]:
    """What is known of a profile of overlaps of the largest degree, at each lower degree.

    ``paths`` is how often paths were executed, each iteration of a loop of one block included; ``cut`` of
    these ended only because their function has too many, and ``exits`` with a return, to whomever.
    """
    functions = Functions(profile)
    crossed = list(functions.crossed())
    turns = sum(each.self_loops for each in functions.executed)
    largest = max((each.largest for each in crossed), default=0)
    chosen = _third(crossed)
    degrees = sorted({each for each in DEGREES if each < largest} | {chosen, largest, ONLY_PATHS})
    real = Counter(dict.fromkeys(KINDS, 0))
    for each in crossed:
        real[each.kind] += each.times
    executed = sum(sum(each.routes.values()) + sum(each.cut_short.values()) for each in functions.executed)
    return {
        "paths": executed + turns,
        "turns": turns,
        "cut": sum(each.ended(PathEnd.CUT) for each in functions.executed),
        "exits": sum(each.ended(PathEnd.EXIT) for each in functions.executed),
        "real": dict(real),
        "largest": largest,
        "chosen": chosen,
        "degrees": {str(degree): known_at(crossed, degree) for degree in degrees},
    }


def bounds_as_counted(profile: Profile) -> dict[str, Any]:
    """What is known of a profile of overlaps of any degree, as far as it goes."""
    crossed = list(Functions(profile).crossed())
    real = Counter(dict.fromkeys(KINDS, 0))
    for each in crossed:
        real[each.kind] += each.times
    return {"real": dict(real), **known_at(crossed, None)}


def known_at(crossed: Iterable[Crossed], degree: int | None) -> dict[str, Any]:
    """Sums over all crossings of each kind, at a degree."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for each in crossed:
        found[each.kind].update(_known(each.tables(degree)))
    return {kind: dict(figures) for kind, figures in found.items()}


def _known(tables: Tables) -> dict[str, int]:
    """Flow by the tightest bounds and by the equations of the paper, and how many pairs are possible."""
    found: Counter[str] = Counter()
    for table in tables:
        if table.contradictory:
            found["contradictions"] += 1
            continue
        found["definite"] += table.definite_flow
        found["potential"] += table.potential_flow
        found["pairs"] += table.pairs
        found["exact"] += table.exact
        if table.pairs <= _MOST_EQUATIONS:
            by_equations = fixed_point(table.system())
            found["definite by equations"] += by_equations.definite_flow
            found["potential by equations"] += by_equations.potential_flow
        else:
            found["definite by equations"] += table.definite_flow
            found["potential by equations"] += table.potential_flow
    return dict(found)
