"""Increments by the weights that probes are placed with (BL94 §5)."""

from __future__ import annotations

from bench.figures.estimate_evaluation import is_scored
from bench.figures.weights import (
    EDGES,
    MEASURED,
    NESTING,
    PAPER,
    PATHS,
    SHIPPED,
    IncrementsByWeights,
)
from bench.tables.layout.cells import picked, quotient
from bench.tables.layout.means import GEOMETRIC
from bench.tables.layout.model import Column, Section, Table
from bench.tables.layout.values import FINE, MILLIONS

_WEIGHTS = IncrementsByWeights()
_LABELS = {
    PAPER: "estimate, rates of WL94",
    SHIPPED: "estimate, rates of trodden",
    MEASURED: "measured",
}


def _section(name: str, title: str, profile: str, what: str) -> Section:
    nesting = picked(_WEIGHTS, profile, NESTING, what)
    columns = [
        Column(kind, label, quotient(picked(_WEIGHTS, profile, kind, what), nesting), FINE, (GEOMETRIC,))
        for kind, label in _LABELS.items()
    ]
    return Section(name, title, (Column(NESTING, "by nesting", nesting, MILLIONS), *columns))


TABLE = Table(
    name="weights",
    title="Increments by weights",
    description=(
        "Probes are placed on edges of small weight (BL94 §5). Every function is planned with each kind of "
        "weights, and the increments of each plan are computed from the exact counts of the program's "
        "workload. The default weights are those of the nesting of loops; the other columns are divided by "
        "them, so that a number below 1 means fewer increments. Measured weights predict the very runs that "
        "they come from. The rates of trodden were fitted to none of these programs."
    ),
    measures=(_WEIGHTS,),
    sections=(
        _section("edges", "Increments of edge profiles", EDGES, "increments"),
        _section("paths", "Increments of path profiles", PATHS, "increments"),
        _section("register", "Changes of the path register", PATHS, "register"),
    ),
    programs=is_scored,
)
