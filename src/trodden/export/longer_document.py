"""Longer paths as dictionaries and lists: paths over back edges, calls and returns."""

from __future__ import annotations

from typing import Any

from trodden.profile.longer.model import CrossingFlow, LongerPath, LongerPaths, NotTold


def longer_document(longer: LongerPaths) -> dict[str, Any]:
    """The fields that longer paths add to a profile."""
    return {
        "longer": [_path(longer, path) for path in longer.paths],
        "crossings": [_crossing(longer, each) for each in longer.crossings],
        "not_told": [_not_told(each) for each in longer.not_told],
    }


def _path(longer: LongerPaths, path: LongerPath) -> dict[str, Any]:
    first, second = longer.block_ids(path.crossing, path.first, path.second)
    return {
        **_where(longer, path.crossing.function, path.crossing.callee, path.crossing.site, path.kind.value),
        "first": list(first),
        "second": list(second),
        "lower": path.lower,
        "upper": path.upper,
        "source": path.source.value,
    }


def _where(longer: LongerPaths, function: str, callee: str | None, site: int, kind: str) -> dict[str, Any]:
    found = {"function": function, "kind": kind, "site": longer.functions[function].facts.graph.labels[site]}
    return found if callee is None else {**found, "callee": callee}


def _crossing(longer: LongerPaths, flow: CrossingFlow) -> dict[str, Any]:
    at = flow.crossing
    found = {
        **_where(longer, at.function, at.callee, at.site, at.kind.value),
        "source": flow.source.value,
        "executed": {"lower": flow.least, "upper": flow.most},
        "definite_flow": flow.definite,
        "potential_flow": flow.potential,
        "paths": flow.paths,
        "exact": flow.exact,
        "listed": flow.listed,
    }
    return found if flow.degree is None or flow.degree < 0 else {**found, "degree": flow.degree}


def _not_told(each: NotTold) -> dict[str, Any]:
    kind = {} if each.kind is None else {"kind": each.kind.value}
    return {"function": each.function, **kind, "reason": each.reason}
