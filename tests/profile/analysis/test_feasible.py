"""Paths that a truth value rules out, against all paths one by one."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.walking import facts_of
from tests.programs import random_program
from trodden.graph.cfg import EdgeKind
from trodden.plan.paths.numbering import Numbering
from trodden.plan.routes import Route
from trodden.profile.analysis.feasible import Truth, arrives, count_possible
from trodden.program.facts import FunctionFacts, TruthPhi


def _facts(seed: int, size: int) -> FunctionFacts:
    """A random function in which some branches are on phis of which some values are constant."""
    graph = random_program(seed, size)
    names = [name if name != "EXIT" else "exit" for name in graph.labels]
    flow = [f"{names[src]}>{names[dst]}" for src, dst, kind in graph.edges if kind is EdgeKind.FLOW]
    facts = facts_of("f", " ".join(flow))
    rng = random.Random(seed)
    graph = facts.graph
    truths: dict[int, TruthPhi] = {}
    for block in range(graph.exit):
        edges = [e for e in graph.in_edges[block] if graph.edges[e].kind is EdgeKind.FLOW]
        branches = len(graph.out_edges[block]) == 2
        if len(edges) > 1 and rng.random() < 0.8:
            known = {edge: rng.random() < 0.5 for edge in edges if rng.random() < 0.5}
            passed = {
                edge: (graph.edges[edge].src, rng.random() < 0.5)
                for edge in edges
                if edge not in known and graph.edges[edge].src in truths
            }
            truths[block] = TruthPhi(known, passed, tested=branches)
    return replace(facts, truths=truths)


def _is_possible(facts: FunctionFacts, route: Route) -> bool:
    truth: Truth = None
    for position, edge in enumerate(route.edges):
        block = route.blocks[position]
        if position in route.reentries:
            truth = None
        phi = facts.truths.get(block)
        if phi is not None and phi.tested and truth is not None:
            first, second = facts.graph.out_edges[block]
            if edge != (first if truth else second):
                return False
        truth = arrives(facts, edge, truth)
    return True


@settings(max_examples=150)
@given(st.integers(0, 100_000), st.integers(1, 12), st.booleans())
def test_possible_paths_are_those_that_no_truth_value_rules_out(seed: int, size: int, context: bool) -> None:
    facts = _facts(seed, size)
    assert facts.plan.paths is not None
    paths = replace(facts.plan.paths, context=context)
    numbering = Numbering(facts.graph, paths)
    if numbering.number > 3000:
        return
    routes = [numbering.regenerate(number) for number in range(numbering.number)]
    expected = sum(_is_possible(facts, route) for route in routes)
    assert count_possible(facts, replace(paths, number=numbering.number)) == expected
