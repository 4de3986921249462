"""Which function of a profile corresponds to which function of the units that a merge has so far.

A function of another build is the same if it has the same symbol and the same graph, as for ``diff``
(:mod:`trodden.compare.pairing`).  That depends on facts only, not on counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trodden.collect.call_paths import CalledFunction
from trodden.compare.pairing import pair
from trodden.profile.model import FunctionProfile
from trodden.program.facts import UnitFacts

_Copies = dict[str, list[CalledFunction]]


@dataclass(frozen=True)
class Correspondence:
    """``targets`` says which function of ours one of another build is, ``reasons`` why it is none."""

    targets: Mapping[CalledFunction, CalledFunction]
    reasons: Mapping[CalledFunction, str]


def correspondence(ours: Iterable[UnitFacts], theirs: Sequence[UnitFacts]) -> Correspondence:
    """Find the functions of ``ours`` that those of ``theirs`` correspond to."""
    our_functions, our_copies = _functions(ours)
    their_functions, their_copies = _functions(theirs)
    pairs, alone = pair(their_functions, our_functions)
    names = {id(function): name for name, function in their_functions.items()}
    targets: dict[CalledFunction, CalledFunction] = {}
    for each in pairs:
        for copy in their_copies[names[id(each.first)]]:
            targets[copy] = our_copies[each.name][0]
    reasons = {copy: lone.reason for lone in alone if lone.first for copy in their_copies[lone.name]}
    return Correspondence(targets, reasons)


def _functions(units: Iterable[UnitFacts]) -> tuple[dict[str, FunctionProfile], _Copies]:
    """Functions without counts, and all COMDAT copies of each."""
    functions: dict[str, FunctionProfile] = {}
    copies: _Copies = {}
    for unit in units:
        for number, facts in enumerate(unit.functions):
            key = f"{unit.id} {number}"
            if facts.shared:
                key = f"{facts.linkage_name} {facts.fingerprint} {facts.plan.paths}"
            if key not in copies:
                functions[key] = FunctionProfile(facts, unit.files, unit.id, (), ())
            copies.setdefault(key, []).append((unit.id, number))
    return functions, copies
