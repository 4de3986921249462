"""A function's graph as text, for Graphviz and as a picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.making import graph_of
from trodden.errors import UsageError
from trodden.graph.cfg import Graph, build
from trodden.plan.counters.schemes import eprof, every_block, vprof_by_edges
from trodden.plan.probes import (
    AddTripCount,
    Count,
    EdgeMeasure,
    EmitBits,
    EmitEntry,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    FlushBits,
    Plan,
)
from trodden.report.graph.dot import to_dot
from trodden.report.graph.drawing import Drawing, probe_text, weight_text
from trodden.report.graph.layout import GAP, lay_out
from trodden.report.graph.svg import to_svg
from trodden.report.graph.text import to_text
from trodden.weigh.frequency.nesting import nesting_weights

LOOP = graph_of("loop", "a>b b>c c>b b>d d>exit")


def _drawing(graph: Graph) -> Drawing:
    weights = nesting_weights(graph)
    blocks = [sum(weights[e] for e in ins) for ins in graph.in_edges]
    return Drawing(graph.name, graph, ["1"] * graph.exit, weights, blocks, False, eprof(graph, weights))


TEXT = """\
loop
4 blocks, 5 edges, 2 counters (eprof); expected frequencies

a  1  root  lines 1
  → b     1  tree

b  10  lines 1
  → c     9  tree
  → d     1  tree

c  9  lines 1
  → b     9  chord  +1→c0

d  1  lines 1
  → exit  1  chord  +1→c1

exit  1
  → a     1  tree, closing
"""


def test_text() -> None:
    assert to_text(_drawing(LOOP)) == TEXT


def test_roles() -> None:
    endless = graph_of("endless", "a>b b>b a>exit")
    drawing = _drawing(endless)
    roles = {endless.edges[i].kind.value: drawing.edge_role(i) for i in range(len(endless.edges))}
    assert roles["endless"] == "never taken"
    assert roles["closing"] == "tree, closing"
    by_blocks = replace(_drawing(LOOP), plan=every_block(LOOP))
    assert by_blocks.tree is None
    assert [by_blocks.edge_role(i) for i in range(6)] == ["", "", "", "", "", "closing"]
    assert "b  10  lines 1  +1→c1" in to_text(by_blocks)
    free = Plan("vprof-edges", (EdgeMeasure(2),), {2: (Count(0),)}, free=frozenset({3}))
    assert replace(drawing, graph=LOOP, plan=free).edge_role(3) == "free"


def test_a_block_profile_by_edges_draws_its_free_edges() -> None:
    graph = graph_of("f", "a>b a>c b>d b>e c>d c>e d>exit e>exit")
    drawing = _drawing(graph)
    by_edges = replace(drawing, plan=vprof_by_edges(graph, nesting_weights(graph)))
    text = to_text(by_edges)
    assert text.count("  free") == len(by_edges.plan.free)


def test_small_writing() -> None:
    assert probe_text(Count(3)) == "+1→c3"
    assert probe_text(AddTripCount(3, 1)) == "+trips→c3"
    assert probe_text(EmitEntry()) == "write entry"
    assert probe_text(EmitRegion()) == "write r"
    assert probe_text(EmitRegion(-2)) == "write r-2"
    assert probe_text(EmitRegionAt(7)) == "write 7"
    assert probe_text(EmitWitness(2)) == "write w2"
    assert probe_text(EmitBits(1, 2)) == "b+=01"
    assert probe_text(FlushBits(True)) == "write b"
    assert probe_text(FlushBits(False)) == "write b if long"
    assert probe_text(EmitTripCount(1)) == "write trips"
    assert [weight_text(w) for w in (None, 0, 5.0, 0.125, 202.5, 1234567.25)] == [
        *("?", "0", "5", "0.125", "202.5"),
        "1,234,567",
    ]


def test_dot() -> None:
    text = to_dot(_drawing(LOOP))
    assert 'b2 -> b1 [label="9\\n+1→c0", style=dashed];' in text
    assert 'b1 -> b2 [label="9", style=solid, penwidth=2.5];' in text
    assert 'b4 -> b0 [label="1", style=dotted, constraint=false];' in text
    assert 'b1 [label="b\\n1\\n10"];' in text


NAME = "{http://www.w3.org/2000/svg}"


def test_the_picture_holds_blocks_edges_and_probes() -> None:
    picture = ElementTree.fromstring(to_svg(_drawing(LOOP)))
    group = picture.find(f"{NAME}g")
    assert group is not None
    assert len(group.findall(f"{NAME}rect")) == 5
    kinds = [path.get("class") for path in group.findall(f"{NAME}path")]
    assert sorted(map(str, kinds)) == ["chord", "chord", "tree", "tree", "tree"]
    assert len(group.findall(f"{NAME}circle")) == 2
    texts = {text.text for text in group.findall(f"{NAME}text")}
    assert {"a", "b", "c", "d", "exit", "line 1", "10", "9"} <= texts


def test_odd_labels_make_no_broken_picture() -> None:
    graph = build("<&>", ['"<a>&', "b\x00\udc80", "c" * 90, "EXIT"], [(0, 1), (1, 2), (2, 3)])
    texts = [text.text or "" for text in ElementTree.fromstring(to_svg(_drawing(graph))).iter(f"{NAME}text")]
    assert '"<a>&' in texts
    assert "b��" in texts
    assert max(map(len, texts)) == 40


def test_what_is_too_large_to_be_looked_at_is_refused() -> None:
    graph = graph_of("huge", " ".join(f"b{i}>b{i + 1}" for i in range(2001)) + " b2001>exit")
    with pytest.raises(UsageError, match="huge: 2002 blocks are too many to draw"):
        to_svg(_drawing(graph))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size))
    return build("f", [*(f"b{v}" for v in range(size)), "EXIT"], draw(st.lists(pairs, max_size=30)))


@settings(deadline=None)
@given(graphs())
def test_boxes_never_overlap_and_edges_lead_down(graph: Graph) -> None:
    sizes = [(40.0 + 10 * (v % 3), 30.0) for v in range(len(graph.labels))]
    layout = lay_out(graph, sizes)
    for layer in layout.layers:
        nodes = [layout.nodes[number] for number in layer]
        for left, right in pairwise(nodes):
            assert right.x - right.width / 2 - (left.x + left.width / 2) > GAP - 1e-6
    for route in layout.routes.values():
        tops = [layout.nodes[number].y for number in route]
        assert tops == sorted(set(tops))
    for upper, lower in pairwise(layout.layers):
        bottom = max(layout.nodes[n].y + layout.nodes[n].height for n in upper)
        assert bottom < min(layout.nodes[n].y for n in lower)


@settings(deadline=None)
@given(graphs())
def test_any_graph_can_be_drawn_inside_its_frame(graph: Graph) -> None:
    drawing = _drawing(graph)
    picture = ElementTree.fromstring(to_svg(drawing))
    width, height = float(picture.get("width", 0)), float(picture.get("height", 0))
    for path in picture.iter(f"{NAME}path"):
        points = re.findall(r"[MLC ]([\d.]+),(-?[\d.]+)", path.get("d", ""))
        assert all(float(x) < width and float(y) < height for x, y in points)
    for text in (to_text(drawing), to_dot(drawing)):
        assert all(label in text for label in graph.labels[:-1])


def test_a_picture_of_a_large_function_takes_little_time() -> None:
    spine = " ".join(f"b{i}>b{i + 1}" for i in range(999))
    graph = graph_of("large", f"{spine} b999>exit " + " ".join(f"b{i}>exit" for i in range(0, 999, 9)))
    assert to_svg(_drawing(graph)).count("<rect") == 1001 + 1
