from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs
from trodden.errors import BadFile
from trodden.graph.cfg import Graph, build
from trodden.graph.cfg_text import name_edges, parse_graph, parse_graphs, print_graph

NAMES = st.one_of(
    st.sampled_from(
        ["EXIT", "graph", "root", "->", "[walk]", "a b", "x,y", "#1", '"', "%12", "if.then", "(2)", ""]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)


@given(graphs(), st.data())
@settings(max_examples=300)
def test_what_is_printed_reads_back_as_the_same_graph(graph: Graph, data: st.DataObject) -> None:
    size = graph.exit
    names = data.draw(st.lists(NAMES, min_size=size, max_size=size, unique=True))
    flow = [(graph.edges[index].src, graph.edges[index].dst) for index in graph.flow_edges()]
    named = build(data.draw(NAMES), [*names, "EXIT"], flow, graph.root)
    assert parse_graph(print_graph(named)) == named


@given(graphs(), st.data())
def test_weights_read_back_exactly(graph: Graph, data: st.DataObject) -> None:
    flow = list(graph.flow_edges())
    numbers = st.floats(0, 1e300, allow_subnormal=False)
    written = data.draw(st.lists(numbers, min_size=len(graph.edges), max_size=len(graph.edges)))
    weights = parse_graphs(print_graph(graph, written))[0].weights
    if flow:
        assert weights is not None
        assert [weights[index] for index in flow] == [written[index] for index in flow]
        into_exit = (written[index] for index in flow if graph.edges[index].dst == graph.exit)
        assert weights[graph.closing] == sum(into_exit)


def test_a_text_written_by_hand() -> None:
    (first, second) = parse_graphs(
        """
        # two graphs
        graph first
          P -> A 1.5, B 2, B 0    # a parallel edge
          A -> A 3, EXIT 1.5      # a self loop
          B -> EXIT 2
        [walk]
          P A EXIT
        [counters edges]   # another section
        graph "second one"
          Z, Y
          root Y
          Y -> X, Z
        """
    )
    assert first.graph.labels == ("P", "A", "B", "EXIT")
    assert [edge[:2] for edge in first.graph.edges] == [
        (0, 1),
        (0, 2),
        (0, 2),
        (1, 1),
        (1, 3),
        (2, 3),
        (3, 0),
    ]
    assert first.weights == (1.5, 2.0, 0.0, 3.0, 1.5, 2.0, 3.5)
    assert [(section.name, section.arguments) for section in first.sections] == [
        ("walk", ()),
        ("counters", ("edges",)),
    ]
    assert [str(line) for line in first.sections[0].lines] == ["P A EXIT"]
    assert second.graph.name == "second one"
    assert second.graph.labels == ("Z", "Y", "X", "EXIT")
    assert second.graph.root == 1
    assert second.weights is None


def test_edges_are_named_by_their_ends() -> None:
    (text,) = parse_graphs(
        """graph g
          A -> B, B, B, EXIT
          B -> EXIT
        [edges]
          A -> B 7, B
          A -> B (3) 9
          EXIT -> A 2
        """
    )
    assert name_edges(text.graph, text.sections[0].lines) == [(0, 7.0), (1, None), (2, 9.0), (5, 2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A -> B", "t.cfg:1: expected 'graph NAME' first"),
        ("graph", "t.cfg:1: expected 'graph NAME'"),
        ("graph a b", "t.cfg:1: expected 'graph NAME'"),
        ("graph a", "t.cfg:1: the graph has no blocks"),
        ("graph a\n A ->", "t.cfg:2: expected edges like 'A -> B, C'"),
        ("graph a\n A -> B,", "t.cfg:2: a name is missing beside a comma"),
        ("graph a\n A -> B C", "t.cfg:2: C is no weight; separate targets with commas"),
        ("graph a\n A -> B 1 2", "t.cfg:2: 2 is one word too many; separate targets with commas"),
        ("graph a\n A -> B -1", "t.cfg:2: the weight -1 is not a number from 0 up"),
        ("graph a\n A -> B nan", "t.cfg:2: the weight nan is not a number from 0 up"),
        ("graph a\n A -> B 1, C", "t.cfg:2: either all edges of a graph have a weight or none"),
        ("graph a\n A -> B (2)", "t.cfg:2: name a target again for a parallel edge"),
        ("graph a\n A B", "t.cfg:2: expected edges like 'A -> B, C', a block, or 'root BLOCK'"),
        ("graph a\n\n EXIT -> A", "t.cfg:3: EXIT has no edges of its own"),
        ("graph a\n A\n root B", "t.cfg:3: there is no block B"),
        ('graph a\n "A -> B', "t.cfg:2: a quote is not closed"),
        ('graph a\n "\\q" -> B', 't.cfg:2: "\\q" has an unknown escape'),
        ("graph a\n A\n[walk", "t.cfg:3: expected a section like [name]"),
        ("graph a\n A\n[ ]", "t.cfg:3: expected a section like [name]"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse_graphs(text, "t.cfg")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A -> C", "t.cfg:4: there is no block C"),
        ("B -> A", "t.cfg:4: there is no such edge B -> A"),
        ("A -> B, B", "t.cfg:4: there is no such edge A -> B"),
        ("A B", "t.cfg:4: expected edges like 'A -> B, C'"),
    ],
)
def test_edges_that_are_not_there_are_errors(line: str, message: str) -> None:
    (text,) = parse_graphs(f"graph g\n A -> B\n[edges]\n {line}", "t.cfg")
    with pytest.raises(BadFile) as caught:
        name_edges(text.graph, text.sections[0].lines)
    assert str(caught.value) == message


def test_one_graph_means_one() -> None:
    with pytest.raises(BadFile, match="expected one graph, found 2"):
        parse_graph("graph a\n A\ngraph b\n B")
