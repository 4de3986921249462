"""The call sites of traced functions: calls that may lead to functions with probes, and come back."""

from __future__ import annotations

from trodden.program.facts import BranchKind, FunctionFacts, UnitFacts
from trodden.weigh.features.library_functions import is_library_function


def call_sites(facts: FunctionFacts, unit: UnitFacts) -> frozenset[int]:
    """The blocks of a function that end in one; in front of a dead end there is none."""
    trace = facts.plan.trace
    if trace is None:
        return frozenset()
    probed = {each.linkage_name for each in unit.functions}
    probed |= {alias for alias, symbol in unit.aliases if symbol in probed}
    skipped = {each.name for each in unit.skipped}

    def may_have_probes(block: int) -> bool:
        features = facts.features.blocks
        calls = features[block].calls if block < len(features) else ()
        symbol = calls[-1].callee if calls else ""
        if not symbol or symbol in probed:
            return True
        return symbol not in skipped and not is_library_function(symbol)

    others = {*trace.tails, *trace.resumes}
    return frozenset(
        block
        for block in trace.calls
        if block not in others
        and facts.blocks[block].kind is not BranchKind.DEAD_END
        and may_have_probes(block)
    )
