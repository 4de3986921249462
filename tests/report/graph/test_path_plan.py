"""Plans that number paths, drawn as BL96 draws them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs
from tests.profile.making import graph_of
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.cfg_text import GraphText, parse_graphs
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Add, Bump, BumpAt, Restore, Save, Set, StartClock
from trodden.report.graph.dot import to_dot
from trodden.report.graph.drawing import Drawing, probe_text
from trodden.report.graph.path_plan import MOST_LISTED, PathPlan
from trodden.report.graph.svg import to_svg
from trodden.report.graph.text import to_text
from trodden.weigh.frequency.nesting import nesting_weights

EXAMPLES = Path(__file__).parents[3] / "examples" / "bl96.cfg"
RUNNING, LOOP = parse_graphs(EXAMPLES.read_text("utf-8"), EXAMPLES.name)
NAME = "{http://www.w3.org/2000/svg}"


def _drawing(graph: Graph, weights: list[float] | None = None, **options: object) -> Drawing:
    weights = weights or nesting_weights(graph)
    plan = path_plan(graph, weights, **options)  # type: ignore[arg-type]
    blocks = [sum(weights[e] for e in ins) for ins in graph.in_edges]
    numbered = PathPlan.of(graph, plan, [weights])
    return Drawing(graph.name, graph, [""] * graph.exit, weights, blocks, False, plan, numbered)


def _of(text: GraphText, **options: object) -> Drawing:
    return _drawing(text.graph, list(text.weights) if text.weights else None, **options)


def _ladder(steps: int) -> str:
    """A chain of branches with two successors each."""
    return " ".join(f"a{i}>b{i} a{i}>a{i + 1} b{i}>a{i + 1}" for i in range(steps))


FIGURES_6_7_9 = """\
running-example
6 blocks, 9 edges, 6 counters (paths); expected frequencies
6 paths, 0 back edges, 0 cuts

entry
  → A         tree     Val 0

A  60  root
  → C     10  chord    Val 0  Inc 0  r=0
  → B     50  tree     Val 2

B  50
  → C     40  chord    Val 0  Inc 2  r=2
  → D     10  chord    Val 2  Inc 4  r=4

C  50
  → D     50  tree     Val 0

D  60
  → F     50  tree     Val 0         count[r]++
  → E     10  chord    Val 1  Inc 1  count[r+1]++

E  10
  → F     11  tree     Val 0

F  61
  → exit  60  tree     Val 0

exit  60
  → A     60  closing

paths
  0  entry  A C D F      exit
  1  entry  A C D E F    exit
  2  entry  A B C D F    exit
  3  entry  A B C D E F  exit
  4  entry  A B D F      exit
  5  entry  A B D E F    exit
"""


def test_the_running_example_is_that_of_the_paper() -> None:
    assert to_text(_of(RUNNING)) == FIGURES_6_7_9


def test_a_back_edge_has_its_dummy_edges() -> None:
    text = to_text(_of(LOOP))
    assert "12 paths, 1 back edge, 0 cuts\n" in text
    assert "  ⇢ B          chord      Val 6  Inc 6  paths start anew\n" in text
    assert (
        "  → B       9  back edge                count[r]++ r=6\n"
        "  ⇢ exit       chord      Val 0  Inc 0  paths end\n" in text
    )
    assert "   9  back edge  B D E          back edge to B\n" in text


def test_a_loop_entry_in_context_is_split() -> None:
    text = to_text(_of(LOOP, context=True))
    assert "12 paths, 1 back edge, 0 cuts, in context\n" in text
    assert "  ⇢ B          tree       Val 0         from outside\n" in text
    assert "  ⇢ B          chord      Val 6  Inc 6  by a back edge\n" in text
    assert "   9  back edge  A | B D E        back edge to B\n" in text


def test_cuts_and_self_loops() -> None:
    ladder = graph_of("ladder", f"{_ladder(6)} a6>a6 a6>exit")
    drawing = _drawing(ladder, limit=30)
    assert drawing.plan.paths is not None
    cuts = drawing.plan.paths.cuts
    assert cuts
    assert {drawing.edge_role(edge) for edge in cuts} == {"cut"}
    text = to_text(drawing)
    assert f", {len(cuts)} cut" in text
    assert "self loop" in text
    assert f"cut to {ladder.labels[ladder.edges[cuts[0]].dst]}\n" in text


def test_what_the_rest_of_a_plan_is() -> None:
    setjmp = graph_of("setjmp", "a>b b>c b>d c>exit d>exit")
    text = to_text(_drawing(setjmp, resume_edges=(0,), timed=True, dense=0))
    assert "1 resume edge after setjmp, in a sparse table, timed\n" in text
    assert "  setjmp" in text
    stuck = graph_of("stuck", "a>b a>exit b>c c>b")
    roles = {_drawing(stuck).edge_role(edge) for edge in range(len(stuck.edges))}
    assert roles >= {"closing", "never taken", "back edge"}


def test_many_paths_are_not_listed() -> None:
    numbered = _drawing(graph_of("many", f"{_ladder(7)} a7>exit")).numbered
    assert numbered is not None
    assert numbered.numbering.number == 2 * MOST_LISTED
    assert numbered.table() == []


def test_chords_are_shown_only_if_the_probes_agree_with_them() -> None:
    graph, weights = RUNNING.graph, list(RUNNING.weights or ())
    plan = path_plan(graph, weights)
    other = [100.0 - weight for weight in weights]
    numbered = PathPlan.of(graph, plan, [other])
    assert numbered is not None
    assert numbered.increments is None
    assert numbered.tree is None
    either = PathPlan.of(graph, plan, [other, weights])
    assert either is not None
    assert either.increments is not None
    assert numbered.summary == "6 paths, 0 back edges, 0 cuts; chords not shown: other weights chose them"
    blocks = [0.0] * len(graph.labels)
    drawing = Drawing("f", graph, [""] * graph.exit, weights, blocks, False, plan, numbered)
    assert "  → D     10           Val 2  r=4\n" in to_text(drawing)


def test_counts_beside_the_paths() -> None:
    graph, weights = RUNNING.graph, list(RUNNING.weights or ())
    numbered = PathPlan.of(graph, path_plan(graph, weights), [weights], {3: 1000})
    assert numbered is not None
    assert numbered.table()[3] == ("3", "1,000", "entry", "A B C D E F", "exit")
    assert numbered.table()[4][1] == "0"


@pytest.mark.parametrize(
    ("probe", "text"),
    [
        (Set(0), "r=0"),
        (Set(-2), "r=-2"),
        (Add(3), "r+=3"),
        (Add(-3), "r-=3"),
        (Bump(), "count[r]++"),
        (Bump(2), "count[r+2]++"),
        (Bump(-2), "count[r-2]++"),
        (BumpAt(4), "count[4]++"),
        (Save(1), "s1=r"),
        (Restore(1, 5), "r=s1+5"),
        (StartClock(), "clock"),
    ],
)
def test_probes_as_the_paper_writes_them(
    probe: Set | Add | Bump | BumpAt | Save | Restore | StartClock, text: str
) -> None:
    assert probe_text(probe) == text


def test_the_drawing_for_graphviz() -> None:
    text = to_dot(_of(LOOP))
    assert 'label="loop\\n12 paths, 1 back edge, 0 cuts";' in text
    assert 'b3 -> b4 [label="5\\nVal 0, Inc 3\\nr+=3", style=dashed];' in text
    assert 'entry -> b1 [label="Val 6, Inc 6", style=dotted, color=gray40, fontcolor=gray40];' in text
    assert 'b4 -> b9 [label="Val 0, Inc 0", style=dotted, color=gray40, fontcolor=gray40];' in text
    assert 'B\\n10\\npass Val 0\\nsurrogate Val 6 Inc 6"' in to_dot(_of(LOOP, context=True))


def test_the_picture() -> None:
    picture = ElementTree.fromstring(to_svg(_of(RUNNING)))
    texts = {(text.get("class"), text.text) for text in picture.iter(f"{NAME}text")}
    assert {("mark", "Val 2, Inc 4"), ("probe", "r=4"), ("probe", "count[r+1]++")} <= texts
    squares = [rect for rect in picture.iter(f"{NAME}rect") if rect.get("class") == "probe"]
    assert len(squares) == 5
    looping = to_svg(_of(LOOP))
    for text in ("start Val 6, Inc 6", "entry Val 0", "end Val 0, Inc 0", "r=6"):
        assert f">{text}<" in looping
    assert ">surrogate Val 6, Inc 6<" in to_svg(_of(LOOP, context=True))


@settings(deadline=None)
@given(graphs(), st.booleans(), st.sampled_from([None, 1, 5]))
def test_any_plan_can_be_drawn(graph: Graph, context: bool, limit: int | None) -> None:
    drawing = _drawing(graph, context=context, limit=limit)
    assert drawing.numbered is not None
    assert drawing.numbered.increments is not None
    text = to_text(drawing)
    assert all(label in text for label in graph.labels[:-1])
    dot = to_dot(drawing)
    flow = sum(edge.kind is EdgeKind.FLOW for edge in graph.edges)
    assert dot.count(" -> ") >= flow + 1
    picture = ElementTree.fromstring(to_svg(drawing))
    width = float(picture.get("width", 0))
    for mark in picture.iter(f"{NAME}text"):
        assert 0 <= float(mark.get("x", -1)) <= width
