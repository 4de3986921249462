"""The worked examples of MR98, from ``tests/cases/mr98.cfg``."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.plan.interprocedural.cases import ProgramCase, program_cases, text_of
from tests.plan.interprocedural.probe_text import lines_of
from tests.plan.interprocedural.programs import Call, Enter, Event, Returned, Take, replay
from trodden.plan.interprocedural.call_graph import most_enters, sites_that_cannot_be_kept, sites_to_keep
from trodden.plan.interprocedural.interpret import Thread
from trodden.plan.interprocedural.linear import Linear
from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.paths import (
    How,
    InterproceduralPath,
    number_of,
    path_with,
    suffix_start,
)
from trodden.plan.interprocedural.plan import interprocedural_plans
from trodden.plan.interprocedural.points import Kind
from trodden.plan.interprocedural.program import Site
from trodden.recover.interprocedural import recover_interprocedural
from trodden.weigh.frequency.nesting import nesting_weights

PROGRAMS = {str(case): case for case in program_cases("mr98.cfg")}
FIGURE_4 = PROGRAMS["figure-4"]
MODES = list(Mode)


def numbering_of(case: ProgramCase, mode: Mode, split: bool = False) -> Numbering:
    return Numbering(case.program, sites_to_keep(case.program, "program"), mode, split=split)


def node(case: ProgramCase, numbering: Numbering, procedure: int, name: str) -> int:
    points = numbering.points[procedure]
    special = {"entry": points.entry, "inside": points.inside, "EXIT": points.exit}
    return special[name] if name in special else points.first[case.cases[procedure].block(name)]


def placed(case: ProgramCase, words: list[str], numbers: int) -> tuple[int, list[str], list[int]]:
    """A line of a section: the procedure, which is the first unless it is named, nodes and numbers."""
    names, values = words[:-numbers], [int(word) for word in words[-numbers:]]
    graphs = {each.graph.name for each in case.cases}
    procedure = case.of(names[0]) if names[0] in graphs else 0
    return procedure, names[1:] if names[0] in graphs else names, values


def listed() -> list[tuple[ProgramCase, tuple[str, ...]]]:
    return [
        (case, section.arguments)
        for case in PROGRAMS.values()
        for section in case.cases[0].sections("all-paths")
    ]


@pytest.mark.parametrize(("case", "arguments"), listed(), ids=str)
def test_numbers_and_paths(case: ProgramCase, arguments: tuple[str, ...]) -> None:
    (section,) = (each for each in case.cases[0].sections("all-paths") if each.arguments == arguments)
    numbering = numbering_of(case, Mode(arguments[0]), "split" in arguments)
    found = []
    for procedure, table in enumerate(numbering.tables):
        for number in range(table.size):
            path = path_with(numbering, procedure, number)
            assert number_of(numbering, path) == number
            found.append(f"{numbering.bases[procedure] + number} {text_of(numbering, path)}")
    assert found == [" ".join(word.text for word in line.words) for line in section.lines]


@pytest.mark.parametrize("mode", MODES)
def test_functions_of_figure_7(mode: Mode) -> None:
    numbering = numbering_of(FIGURE_4, mode)
    for words in FIGURE_4.rows_of("psi", mode.value):
        procedure, (name,), value = placed(FIGURE_4, words, 2)
        psi = numbering.psi[procedure][node(FIGURE_4, numbering, procedure, name)]
        assert psi == Linear(*value), words
    named: dict[tuple[int, int], Linear] = {}
    for words in FIGURE_4.rows_of("rho", mode.value):
        procedure, (source, target), value = placed(FIGURE_4, words, 2)
        ends = tuple(node(FIGURE_4, numbering, procedure, name) for name in (source, target))
        points = numbering.points[procedure]
        (arc,) = (a for a in points.outs[ends[0]] if points.arcs[a].dst == ends[1])
        named[procedure, arc] = Linear(*value)
    others = {
        (procedure, arc): Linear(0, 0)
        for procedure, rho in enumerate(numbering.rho)
        for arc in range(len(rho))
    }
    found = {
        (procedure, arc): function
        for procedure, rho in enumerate(numbering.rho)
        for arc, function in enumerate(rho)
    }
    assert found == others | named


def test_returns_of_figure_15() -> None:
    numbering = numbering_of(FIGURE_4, Mode.PIECEWISE)
    unbalanced = {name: int(value) for name, value in FIGURE_4.rows("unbalanced")}
    assert numbering.unbalanced == [unbalanced["main"], unbalanced["pow"]]
    for name, value in FIGURE_4.rows("at-return"):
        assert numbering.value_at_return(0, node(FIGURE_4, numbering, 0, name)) == int(value)
    assert numbering.bases == [0, 16, 21]
    assert [table.whole for table in numbering.tables] == [8, 0]


@pytest.mark.parametrize("mode", MODES)
def test_comments_of_figures_9_and_17(mode: Mode) -> None:
    """The numbers on entry to pow and on its exit, by call."""
    numbering = numbering_of(FIGURE_4, mode)
    entry: dict[str, set[int]] = {"v6": set(), "v10": set()}
    leaving: dict[str, set[int]] = {"v6": set(), "v10": set()}
    for procedure, table in enumerate(numbering.tables):
        for number in range(table.size):
            path = path_with(numbering, procedure, number)
            for index, step in enumerate(path.steps):
                so_far = InterproceduralPath(path.procedure, path.whole, path.steps[:index])
                if step.how is not How.ALONG:
                    points = numbering.points[step.procedure]
                    block = points.block[points.arcs[step.arc].src]
                    label = FIGURE_4.cases[step.procedure].graph.labels[block]
                    total = numbering.bases[path.procedure] + number_of(numbering, so_far)
                    (entry if step.how is How.ENTER else leaving)[label].add(total)
    for name, found in (("on-entry", entry), ("on-exit", leaving)):
        for label, *numbers in FIGURE_4.rows_of(name, mode.value):
            assert found[label] == {int(number) for number in numbers}, (name, label)


def run_of_figure_4() -> list[Event]:
    """What the program of Figure 4 does."""
    main, power = (case.graph for case in FIGURE_4.cases)
    events: list[Event] = [Enter(0)]

    def follow(procedure: int, *blocks: str) -> None:
        graph = (main, power)[procedure]
        labels = [*graph.labels]
        for source, target in pairwise(blocks):
            ends = labels.index(source), labels.index(target)
            (edge,) = (e for e in graph.out_edges[ends[0]] if graph.edges[e].dst == ends[1])
            events.append(Take(edge))

    def pow_of(exponent: int) -> None:
        events.extend([Call(), Enter(1)])
        follow(1, "u1", "u2", "u3")
        for _ in range(exponent):
            follow(1, "u3", "u4", "u5", "u3")
        follow(1, "u3", "u7", "EXIT")
        events.append(Returned())

    follow(0, "v1", "v2", "v3", "v4")
    for i in range(1, 19):
        follow(0, "v4", "v5")
        if i % 2 == 0:
            follow(0, "v5", "v6")
            pow_of(2)
            follow(0, "v6", "v7", "v8", "v9")
        else:
            follow(0, "v5", "v9")
        if i % 3 == 0:
            follow(0, "v9", "v10")
            pow_of(2)
            follow(0, "v10", "v11", "v12", "v13")
        else:
            follow(0, "v9", "v13")
        follow(0, "v13", "v4")
    follow(0, "v4", "v15", "EXIT")
    return events


@pytest.mark.parametrize("mode", MODES)
def test_profiles_of_figure_4(mode: Mode) -> None:
    numbering = numbering_of(FIGURE_4, mode)
    weights = [[1.0] * len(case.graph.edges) for case in FIGURE_4.cases]
    thread = Thread(numbering, interprocedural_plans(numbering, weights))
    replay(run_of_figure_4(), thread)
    found = {numbering.bases[table] + number: n for (table, number), n in thread.tally.paths.items()}
    assert found == {int(number): int(n) for number, n in FIGURE_4.rows_of("counted", mode.value)}
    assert sum(found.values()) == 49
    flow = recover_interprocedural(numbering, thread.tally, {})
    assert flow.violations == []
    assert flow.entries == [1, 15]
    assert flow.edges[0][FIGURE_4.cases[0].graph.out_edges[12][0]] == 18


def test_example_3_2() -> None:
    """The edge u1 -> u3 contributes 6 to a path through v6, 2 to one through v10, and both to path (3)."""
    numbering = numbering_of(FIGURE_4, Mode.CONTEXT)
    paths = [path_with(numbering, 0, number) for number in range(36)]
    found = set()
    for path in paths:
        added = tuple(
            number_of(numbering, InterproceduralPath(0, True, path.steps[: index + 1]))
            - number_of(numbering, InterproceduralPath(0, True, path.steps[:index]))
            for index, step in enumerate(path.steps)
            if step.procedure == 1
            and step.how is How.ALONG
            and numbering.points[1].arcs[step.arc].kind is Kind.START
        )
        found.add(added)
    assert found == {(), (6,), (2,), (6, 2)}
    whole = [path for path in paths if text_of(numbering, path).startswith("v1")]
    assert [number_of(numbering, path) for path in whole if _added_twice(numbering, path)] == [9, 10]


def _added_twice(numbering: Numbering, path: InterproceduralPath) -> bool:
    return text_of(numbering, path).count("|") == 2


def test_context_and_suffix() -> None:
    """§3.4: the active suffix of path 28 begins in the second call of pow."""
    numbering = numbering_of(FIGURE_4, Mode.CONTEXT)
    path = path_with(numbering, 0, 28)
    suffix = InterproceduralPath(0, True, path.steps[suffix_start(numbering, path.steps) :])
    assert text_of(numbering, suffix) == "| u3 u7 exit ) v11 v12 v13 end"


def test_example_8_1() -> None:
    """A leaf procedure with one call site cut and one kept has an intraprocedural profile for the former."""
    program = FIGURE_4.program
    cut, kept = Site(0, 5, 0), Site(0, 9, 0)
    numbering = Numbering(program, {kept}, Mode.CONTEXT)
    assert cut not in numbering.kept
    assert numbering.tables[1].size == numbering.psi[1][numbering.points[1].entry].of(1) == 4
    texts = [text_of(numbering, path_with(numbering, 1, number)) for number in range(4)]
    assert texts == ["u1 u2 u3 u4 u5 end", "u1 u2 u3 u7 exit", "| u3 u4 u5 end", "| u3 u7 exit"]
    weights = [[1.0] * len(case.graph.edges) for case in FIGURE_4.cases]
    thread = Thread(numbering, interprocedural_plans(numbering, weights))
    replay(run_of_figure_4(), thread)
    assert {number: n for (table, number), n in thread.tally.paths.items() if table == 1} == {
        0: 9,
        2: 9,
        3: 9,
    }


@pytest.mark.parametrize("mode", MODES)
def test_probes_of_figure_4(mode: Mode) -> None:
    """With the additions on the right edges none is left between the places that need one anyway (§5.5.1)."""
    numbering = numbering_of(FIGURE_4, mode)
    weights = [nesting_weights(case.graph) for case in FIGURE_4.cases]
    found = [
        f"{case.graph.name} {line}"
        for case, plan, procedure in zip(
            FIGURE_4.cases, interprocedural_plans(numbering, weights), numbering.program, strict=True
        )
        for line in lines_of(procedure, plan)
    ]
    assert [line.split() for line in found] == FIGURE_4.rows_of("probes", mode.value)


def test_sums_of_5_5_1() -> None:
    total = Linear(2, 2).plus(Linear(3, 4)).plus(Linear(5, 3))
    assert total == Linear(10, 9)
    assert Linear(3, 1).after(Linear(2, 5)) == Linear(6, 16)


def test_bounds_on_entries() -> None:
    kept = sites_to_keep(FIGURE_4.program, "program")
    assert most_enters(FIGURE_4.program, kept, 0) == [1, 2]


def test_sites_that_cannot_be_kept() -> None:
    assert sites_that_cannot_be_kept(FIGURE_4.program) == {}
    assert sites_that_cannot_be_kept(PROGRAMS["recursion"].program) == {
        Site(0, 1, 0): "its callee is not known",
        Site(1, 1, 0): "it is recursive",
    }


def test_strategies() -> None:
    kept = sites_to_keep(FIGURE_4.program, "program")
    assert kept == {Site(0, 5, 0), Site(0, 9, 0)}
    assert sites_to_keep(FIGURE_4.program, "leaves") == sites_to_keep(FIGURE_4.program, "file") == kept
    assert sites_to_keep(FIGURE_4.program, "local") == frozenset()
    assert sites_to_keep(PROGRAMS["recursion"].program, "leaves") == frozenset()
    assert sites_to_keep(PROGRAMS["recursion"].program, "program") == {Site(0, 0, 0)}
