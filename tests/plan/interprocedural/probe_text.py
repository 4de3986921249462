"""Probes in a few characters, as :mod:`trodden.report.graph.drawing` writes those of other plans.

``n`` is the number of the path, ``x`` the number of paths from the exit, ``entry`` the number on entry,
``left`` that with which a callee left.  Behind ``call`` is what the callee gets for both.
"""

from __future__ import annotations

from trodden.plan.interprocedural.program import Procedure
from trodden.plan.interprocedural_probes import (
    AddSums,
    CountPath,
    EnterProcedure,
    InterproceduralProbe,
    LeaveProcedure,
    ProcedurePlan,
    PublishPath,
    StartInContext,
    StartPiece,
    TakePath,
    TakePiece,
)
from trodden.plan.probes import Count


def term(a: int, b: int) -> str:
    found = ""
    if a:
        found = f"{'-' if a < 0 else '+'}{'' if abs(a) == 1 else abs(a)}x"
    return found + (f"{'-' if b < 0 else '+'}{abs(b)}" if b else "")


def text_of_probe(probe: InterproceduralProbe) -> str:
    match probe:
        case EnterProcedure(a, b):
            return f"enter{term(a, b)}"
        case AddSums(a, b):
            return f"n+={term(a, b)}"
        case CountPath(a, b):
            return f"count[n{term(a, b)}]++"
        case StartInContext(a, b):
            return f"n=entry{term(a, b)}"
        case StartPiece(number, completions):
            return f"n={number} x={completions}"
        case PublishPath(_, a, b, c, d):
            return f"call(n{term(a, b)}) x={term(c, d).removeprefix('+')}"
        case TakePath(a, b):
            return f"n=left{term(a, b)}"
        case TakePiece(a, b, value, completions):
            return f"n=left{term(a, b)} n+={value} x={completions} if none is open"
        case LeaveProcedure(a, b, at_end):
            return f"leave(n{term(a, b)})" + (f" n+={at_end} if none is open" if at_end else "")
        case Count(slot):
            return f"+1→c{slot}"


def lines_of(procedure: Procedure, plan: ProcedurePlan) -> list[str]:
    """The probes of a procedure, one place a line."""
    graph = procedure.graph
    labels = graph.labels
    found = [("entry", plan.on_entry)]
    for edge, probes in plan.on_edges.items():
        source, target, _ = graph.edges[edge]
        found.append((f"{labels[source]} {labels[target]}", probes))
    for (block, call), probes in plan.before_calls.items():
        found.append((f"{labels[block]} call {call + 1}", probes))
    for (block, call), probes in plan.after_calls.items():
        found.append((f"{labels[block]} return {call + 1}", probes))
    return [f"{place}: {' '.join(text_of_probe(probe) for probe in probes)}" for place, probes in found]
