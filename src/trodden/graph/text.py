"""Graphs as text: pleasant to write by hand, and what prints is read back as the same graph.

::

    graph figure-13            # a comment; several graphs may follow each other
      P -> A, B                # edges in this order; P is the root, being the first block
      A -> C
      B -> A, C
      C -> P, EXIT

Blocks are numbered in the order in which they start a line, then those that are only led to.  A label
alone (or several, with commas) on a line names blocks without giving edges; ``root X`` makes X the
root.  ``EXIT`` is the exit.  The same target again is a parallel edge, a block as its own target a self loop.
Behind a target may stand a weight (``P -> A 0.5, B 0.5``), on all edges of a graph or on none.  Labels
with blanks, commas, ``#`` or quotes in them are written in double quotes, with backslash escapes as
in JSON.  The virtual edges are not written.

A graph may be followed by sections, for tests that are data: ``[name argument ...]`` and lines up to the
next section or graph.  What they mean is up to the reader; :func:`name_edges` reads lines of edges.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.errors import BadFile
from trodden.graph.cfg import EdgeKind, Graph, build

EXIT = "EXIT"

_TOKEN = re.compile(r'\s*(?:(#.*)|("(?:[^"\\]|\\.)*")|(,)|([^\s,#"]+)|(.))')
_ORDINAL = re.compile(r"\(([1-9][0-9]*)\)")


@dataclass(frozen=True)
class Line:
    """One line, comment and surrounding blanks taken off, with its place for error messages."""

    source: str
    number: int
    text: str

    def error(self, problem: str) -> BadFile:
        """An error that names the place."""
        return BadFile(f"{self.source}:{self.number}: {problem}")


@dataclass(frozen=True)
class Section:
    """A named part that follows a graph."""

    name: str
    arguments: tuple[str, ...]
    lines: tuple[Line, ...]
    heading: Line


@dataclass(frozen=True)
class GraphText:
    """A graph as it was written; ``weights`` has a number for each edge of the graph, or is ``None``."""

    graph: Graph
    weights: tuple[float, ...] | None
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class _Target:
    """What stands behind an arrow: a label, a weight, and which of several parallel edges is meant."""

    label: str
    weight: float | None
    ordinal: int | None


def parse_graphs(text: str, source: str = "graph text") -> list[GraphText]:
    """Read all graphs of a text; ``source`` is the name to use in error messages."""
    graphs: list[tuple[Line, list[Line], list[tuple[Line, list[Line]]]]] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = _strip(source, number, raw)
        if not line.text:
            continue
        if _is_heading(line):
            graphs.append((line, [], []))
        elif not graphs:
            raise line.error("expected 'graph NAME' first")
        elif line.text.startswith("["):
            graphs[-1][2].append((line, []))
        elif graphs[-1][2]:
            graphs[-1][2][-1][1].append(line)
        else:
            graphs[-1][1].append(line)
    return [
        GraphText(*_parse_body(heading, body), tuple(_section(*section) for section in sections))
        for heading, body, sections in graphs
    ]


def parse_graph(text: str, source: str = "graph text") -> Graph:
    """Read a text that holds one graph."""
    found = parse_graphs(text, source)
    if len(found) != 1:
        raise BadFile(f"{source}: expected one graph, found {len(found)}")
    return found[0].graph


def print_graph(graph: Graph, weights: Sequence[float] | None = None) -> str:
    """The text of a graph, ready to be read back; ``weights`` are printed with the edges if given."""
    names = [_quote(label) for label in graph.labels[:-1]] + [EXIT]
    flow = list(graph.flow_edges())
    lines = [f"graph {_quote(graph.name)}"]
    sources = list(dict.fromkeys(graph.edges[index].src for index in flow))
    if sources != list(range(graph.exit)):
        lines += [f"  {name}" for name in names[:-1]]
    if graph.root != 0:
        lines.append(f"  root {names[graph.root]}")
    last = -1
    for index in flow:
        edge = graph.edges[index]
        target = names[edge.dst] if weights is None else f"{names[edge.dst]} {_number(weights[index])}"
        if edge.src == last:
            lines[-1] += f", {target}"
        else:
            lines.append(f"  {names[edge.src]} -> {target}")
        last = edge.src
    return "\n".join(lines) + "\n"


def name_edges(graph: Graph, lines: Iterable[Line]) -> list[tuple[int, float | None]]:
    """The edges of ``graph`` that lines like ``A -> B 2, C`` name, with the numbers behind them.

    Of parallel edges the first mention is the first edge, the next the second; ``A -> B (2)`` is the second
    outright.  ``EXIT -> X`` is the closing edge.
    """
    vertices = {label: vertex for vertex, label in enumerate(graph.labels[:-1])}
    vertices[EXIT] = graph.exit
    mentions: dict[tuple[int, int], int] = {}
    found = []
    for line in lines:
        source, targets = _edges(line)
        for target in targets:
            for label in (source, target.label):
                if label not in vertices:
                    raise line.error(f"there is no block {label}")
            pair = vertices[source], vertices[target.label]
            mentions[pair] = target.ordinal or mentions.get(pair, 0) + 1
            parallel = [index for index in graph.out_edges[pair[0]] if graph.edges[index].dst == pair[1]]
            if mentions[pair] > len(parallel):
                raise line.error(f"there is no such edge {source} -> {target.label}")
            found.append((parallel[mentions[pair] - 1], target.weight))
    return found


def _strip(source: str, number: int, raw: str) -> Line:
    """A line without its comment; a '#' in quotes is none."""
    end = len(raw)
    for token in _TOKEN.finditer(raw):
        if token[1] is not None:
            end = token.start(1)
    return Line(source, number, raw[:end].strip())


def _is_heading(line: Line) -> bool:
    words = line.text.split()
    return words[0] == "graph" and words[1:2] != ["->"] and "," not in line.text.split('"')[0]


def _section(heading: Line, lines: list[Line]) -> Section:
    words = heading.text[1:-1].split()
    if not heading.text.endswith("]") or not words:
        raise heading.error("expected a section like [name]")
    return Section(words[0], tuple(words[1:]), tuple(lines), heading)


def _tokens(line: Line) -> list[str]:
    """The words of a line; a quoted one keeps its opening quote so that it is never taken for a keyword."""
    words = []
    for token in _TOKEN.finditer(line.text):
        if token[5] is not None:
            raise line.error(f"{token[5]!r} opens a label that is not closed")
        if token[2] is None:
            words.append(token[0].strip())
            continue
        try:
            words.append('"' + str(json.loads(token[2])))
        except json.JSONDecodeError:
            raise line.error(f"{token[2]} is not a label that can be read") from None
    return words


def _edges(line: Line) -> tuple[str, list[_Target]]:
    """The source and the targets of an edge line."""
    words = _tokens(line)
    if len(words) < 3 or words[1] != "->":
        raise line.error("expected edges like 'A -> B, C'")
    targets = []
    for part in _split(line, words[2:]):
        weight, ordinal = None, None
        for word in part[1:]:
            match = _ORDINAL.fullmatch(word)
            if match and ordinal is None:
                ordinal = int(match[1])
            elif weight is None:
                weight = _weight(line, word)
            else:
                raise line.error(f"{word!r} is one word too many; separate targets with commas")
        targets.append(_Target(part[0], weight, ordinal))
    return words[0], targets


def _split(line: Line, words: Sequence[str]) -> list[list[str]]:
    """Words between commas."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ",":
            parts.append([])
        else:
            parts[-1].append(word)
    if not all(parts):
        raise line.error("a label is missing beside a comma")
    return parts


def _weight(line: Line, word: str) -> float:
    try:
        weight = float(word)
    except ValueError:
        raise line.error(f"{word!r} is no weight; separate targets with commas") from None
    if not 0 <= weight < float("inf"):
        raise line.error(f"the weight {word} is not a number from 0 up")
    return weight


def _parse_body(heading: Line, body: Sequence[Line]) -> tuple[Graph, tuple[float, ...] | None]:
    words = _tokens(heading)
    if len(words) != 2:
        raise heading.error("expected 'graph NAME'")
    root: tuple[Line, str] | None = None
    starters: dict[str, None] = {}
    edges: list[tuple[Line, str, _Target]] = []
    for line in body:
        words_here = _tokens(line)
        if words_here[1:2] == ["->"]:
            source, targets = _edges(line)
            if source == EXIT:
                raise line.error("no edge leads out of EXIT")
            starters[source] = None
            edges += [(line, source, target) for target in targets]
        elif words_here[0] == "root" and len(words_here) == 2:
            root = line, words_here[1]
        else:
            for part in _split(line, words_here):
                if len(part) != 1 or part[0] == EXIT:
                    raise line.error("expected edges like 'A -> B, C', a label, or 'root LABEL'")
                starters[part[0]] = None
    for line, _, target in edges:
        if target.ordinal is not None:
            raise line.error("write a parallel edge by naming its target again")
        if target.label != EXIT:
            starters.setdefault(target.label)
    if not starters:
        raise heading.error("the graph has no blocks")
    vertices = {label: vertex for vertex, label in enumerate(starters)}
    if root is not None and root[1] not in vertices:
        raise root[0].error(f"there is no block {root[1].lstrip(chr(34))}")
    labels = [_plain(label) for label in vertices]
    if len(set(labels)) < len(labels):
        raise heading.error("a label is written both with and without quotes")
    graph = build(
        _plain(words[1]),
        [*labels, EXIT],
        [(vertices[source], vertices.get(target.label, len(vertices))) for _, source, target in edges],
        vertices[root[1]] if root is not None else 0,
    )
    return graph, _weights(graph, edges)
