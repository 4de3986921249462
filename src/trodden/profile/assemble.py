"""From unit facts and what their counters held to a profile of functions.

A function that several units carry (a template, an inline function) has one set of counters in each of
them, of which the linker lets one run: copies with the same graph are joined by adding their counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from trodden.plan.probes import BlockMeasure
from trodden.profile.model import FunctionFacts, FunctionProfile, Profile, Reading, Skipped, UnitFacts
from trodden.recover.flow import recover

EDGES = "edges"
BLOCKS = "blocks"


def assemble(
    program: str, units: Sequence[UnitFacts], readings: Sequence[Reading], notes: Sequence[str] = ()
) -> Profile:
    """The profile of a program; ``readings[i]`` belongs to ``units[i]``."""
    copies: list[FunctionProfile] = []
    for unit, reading in zip(units, readings, strict=True):
        copies += _recovered_unit(unit, reading)
    functions = _named(_joined(copies))
    return Profile(
        kind=EDGES if all(map(_tells_edges, functions.values())) else BLOCKS,
        program=program,
        units=tuple(units),
        functions=functions,
        skipped=_skipped(units),
        notes=tuple(notes),
        readings=tuple(readings),
    )


def _recovered_unit(unit: UnitFacts, reading: Reading) -> Iterator[FunctionProfile]:
    active: list[dict[int, int]] = [{} for _ in unit.functions]
    for (function, block), frames in reading.active.items():
        active[function][block] = frames
    for facts, frames_of in zip(unit.functions, active, strict=True):
        yield _recovered(unit, facts, reading.counts, frames_of)


def _recovered(
    unit: UnitFacts, facts: FunctionFacts, counts: Sequence[int], active: Mapping[int, int]
) -> FunctionProfile:
    """One copy of a function: the flow law applied to its counters (BL94 §3.1)."""
    counters = counts[facts.first_slot : facts.first_slot + facts.plan.slots]
    cut_short = Counter(active)
    for block, slot in facts.exit_slots.items():
        cut_short[block] += counts[slot]
    early = {block: count for block, count in sorted(cut_short.items()) if count}
    flow = recover(facts.graph, facts.plan, counters, early)
    return FunctionProfile(
        facts=facts,
        files=unit.files,
        unit=unit.id,
        block_counts=flow.blocks,
        edge_counts=flow.edges,
        cut_short=early,
        violations=tuple(flow.violations),
    )


def _joined(copies: Iterable[FunctionProfile]) -> list[FunctionProfile]:
    found: list[FunctionProfile] = []
    shared: dict[str, dict[str, FunctionProfile]] = {}
    for copy in copies:
        if copy.facts.shared:
            variants = shared.setdefault(copy.facts.linkage_name, {})
            known = variants.get(copy.facts.fingerprint)
            variants[copy.facts.fingerprint] = _sum(known, copy) if known else copy
        else:
            found.append(copy)
    for variants in shared.values():
        walked = [variant for variant in variants.values() if any(variant.block_counts)]
        found += walked or [next(iter(variants.values()))]
    return found


def _sum(one: FunctionProfile, other: FunctionProfile) -> FunctionProfile:
    cut_short = Counter(one.cut_short)
    cut_short.update(other.cut_short)  # keeps what is negative, which adding Counters does not
    return replace(
        one,
        block_counts=[a + b for a, b in zip(one.block_counts, other.block_counts, strict=True)],
        edge_counts=[
            None if a is None or b is None else a + b
            for a, b in zip(one.edge_counts, other.edge_counts, strict=True)
        ],
        cut_short={block: count for block, count in sorted(cut_short.items()) if count},
        violations=tuple(dict.fromkeys(one.violations + other.violations)),
    )


def _named(functions: Sequence[FunctionProfile]) -> Mapping[str, FunctionProfile]:
    """Functions by name; by file and name if the name is not unique; numbered if that is not either."""
    names = Counter(each.name for each in functions)
    named: dict[str, FunctionProfile] = {}
    for each in functions:
        name = each.name if names[each.name] == 1 else f"{each.file}:{each.name}"
        key, number = name, 2
        while key in named:
            key, number = f"{name}#{number}", number + 1
        named[key] = each
    return named


def _tells_edges(function: FunctionProfile) -> bool:
    """Whether every edge count follows from the counters, whatever they hold."""
    plan = function.facts.plan
    return not plan.free and not any(isinstance(measure, BlockMeasure) for measure in plan.measures)


def _skipped(units: Sequence[UnitFacts]) -> tuple[Skipped, ...]:
    return tuple(dict.fromkeys(skipped for unit in units for skipped in unit.skipped))
