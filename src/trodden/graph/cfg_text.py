"""Graphs as text: pleasant to write by hand, and what is printed reads back as the same graph.

::

    graph figure-13            # a comment; several graphs may follow each other
      P -> A, B                # P is the root, being the first block; edges count in the order written
      A -> C
      B -> A, C
      C -> P, EXIT

Blocks are numbered in the order in which they start a line, then those that only occur as targets.  A name
alone on a line (or several, with commas) is a block without edges so far; ``root X`` makes X the root.
``EXIT`` is the exit.  The same target again is a parallel edge, a block as its own target a self loop.  A
weight may follow a target (``P -> A 0.5, B 0.5``), on all edges of a graph or on none.  Names with blanks,
commas, brackets, ``#`` or quotes in them, and names that mean something here, are written in double quotes
with the escapes of JSON.  Virtual edges are not written: they follow.

A graph may be followed by sections, for tests that are data: ``[name argument ...]`` and lines up to the
next section or graph.  What they mean is up to the reader; :func:`name_edges` reads lines of edges.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trodden.errors import BadFile
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.cfg_lexer import Line, Word, read_line, write_word

EXIT = "EXIT"

_ORDINAL = re.compile(r"\(([1-9][0-9]{0,8})\)")


@dataclass(frozen=True)
class Section:
    """A named part that follows a graph."""

    name: str
    arguments: tuple[str, ...]
    heading: Line
    lines: list[Line] = field(default_factory=list)


@dataclass(frozen=True)
class GraphText:
    """A graph as it was written; ``weights`` has a number for each edge of the graph, or is ``None``."""

    graph: Graph
    weights: tuple[float, ...] | None
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True)
class _Arrow:
    """One edge as written: names (``None`` is EXIT), weight, and which of parallel edges is meant."""

    line: Line
    source: str | None
    target: str | None
    weight: float | None
    ordinal: int | None


@dataclass
class _Draft:
    """The lines that belong to one graph."""

    heading: Line
    body: list[Line] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)


def parse_graphs(text: str, source: str = "graph text") -> list[GraphText]:
    """Read all graphs of a text; ``source`` is the name to use in error messages."""
    drafts: list[_Draft] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = read_line(source, number, raw)
        if not line.words:
            continue
        if line.words[0].means("graph") and not (len(line.words) > 1 and line.words[1].means("->")):
            drafts.append(_Draft(line))
        elif not drafts:
            raise line.error("expected 'graph NAME' first")
        elif line.words[0].text.startswith("[") and not line.words[0].quoted:
            drafts[-1].sections.append(_section(line))
        elif drafts[-1].sections:
            drafts[-1].sections[-1].lines.append(line)
        else:
            drafts[-1].body.append(line)
    return [_finish(draft) for draft in drafts]


def parse_graph(text: str, source: str = "graph text") -> Graph:
    """Read a text that holds one graph."""
    found = parse_graphs(text, source)
    if len(found) != 1:
        raise BadFile(f"{source}: expected one graph, found {len(found)}")
    return found[0].graph


def print_graph(graph: Graph, weights: Sequence[float] | None = None) -> str:
    """The text of a graph, ready to be read back; with its weights if they are given."""
    names = [write_word(label) for label in graph.labels[:-1]] + [EXIT]
    flow = list(graph.flow_edges())
    lines = [f"graph {write_word(graph.name)}"]
    if list(dict.fromkeys(graph.edges[index].src for index in flow)) != list(range(graph.exit)):
        lines += [f"  {name}" for name in names[:-1]]
    if graph.root != 0:
        lines.append(f"  root {names[graph.root]}")
    last = -1
    for index in flow:
        edge = graph.edges[index]
        target = names[edge.dst] if weights is None else f"{names[edge.dst]} {weights[index]:.17g}"
        if edge.src == last:
            lines[-1] += f", {target}"
        else:
            lines.append(f"  {names[edge.src]} -> {target}")
        last = edge.src
    return "\n".join(lines) + "\n"


def name_edges(graph: Graph, lines: Iterable[Line]) -> list[tuple[int, float | None]]:
    """The edges of ``graph`` that lines like ``A -> B 2, C`` name, with the numbers after them.

    Of parallel edges the first mention is the first edge, the next the second; ``A -> B (2)`` is the
    second outright.  ``EXIT -> X`` is the closing edge.
    """
    vertices: dict[str | None, int] = {label: vertex for vertex, label in enumerate(graph.labels[:-1])}
    vertices[None] = graph.exit
    mentions: dict[tuple[int, int], int] = {}
    found = []
    for line in lines:
        for arrow in _arrows(line):
            for name in (arrow.source, arrow.target):
                if name not in vertices:
                    raise line.error(f"there is no block {name}")
            ends = vertices[arrow.source], vertices[arrow.target]
            mentions[ends] = arrow.ordinal or mentions.get(ends, 0) + 1
            parallel = [index for index in graph.out_edges[ends[0]] if graph.edges[index].dst == ends[1]]
            if mentions[ends] > len(parallel):
                raise line.error(f"there is no such edge {arrow.source or EXIT} -> {arrow.target or EXIT}")
            found.append((parallel[mentions[ends] - 1], arrow.weight))
    return found


def _section(heading: Line) -> Section:
    words = str(heading)[1:-1].split()
    if not str(heading).endswith("]") or not words:
        raise heading.error("expected a section like [name]")
    return Section(words[0], tuple(words[1:]), heading)


def _name(word: Word) -> str | None:
    return None if word.means(EXIT) else word.text


def _arrows(line: Line) -> list[_Arrow]:
    """The edges of a line."""
    if len(line.words) < 3 or not line.words[1].means("->"):
        raise line.error("expected edges like 'A -> B, C'")
    arrows = []
    for part in line.parts(line.words[2:]):
        weight, ordinal = None, None
        for word in part[1:]:
            match = _ORDINAL.fullmatch(word.text)
            if match and ordinal is None:
                ordinal = int(match[1])
            elif weight is None:
                weight = _weight(line, word)
            else:
                raise line.error(f"{word.text} is one word too many; separate targets with commas")
        arrows.append(_Arrow(line, _name(line.words[0]), _name(part[0]), weight, ordinal))
    return arrows


def _weight(line: Line, word: Word) -> float:
    try:
        weight = float(word.text)
    except ValueError:
        raise line.error(f"{word.text} is no weight; separate targets with commas") from None
    if not 0 <= weight < math.inf:
        raise line.error(f"the weight {word.text} is not a number from 0 up")
    return weight


def _finish(draft: _Draft) -> GraphText:
    """Number the blocks and build the graph."""
    if len(draft.heading.words) != 2:
        raise draft.heading.error("expected 'graph NAME'")
    root: tuple[Line, str] | None = None
    blocks: dict[str, None] = {}
    arrows: list[_Arrow] = []
    for line in draft.body:
        if len(line.words) > 1 and line.words[1].means("->"):
            arrows += _arrows(line)
            blocks[_block(line, line.words[0])] = None
        elif len(line.words) == 2 and line.words[0].means("root"):
            root = line, line.words[1].text
        else:
            for part in line.parts(line.words):
                if len(part) != 1:
                    raise line.error("expected edges like 'A -> B, C', a block, or 'root BLOCK'")
                blocks[_block(line, part[0])] = None
    for arrow in arrows:
        if arrow.ordinal is not None:
            raise arrow.line.error("name a target again for a parallel edge")
        if arrow.target is not None:
            blocks.setdefault(arrow.target)
    if not blocks:
        raise draft.heading.error("the graph has no blocks")
    number: dict[str | None, int] = {name: vertex for vertex, name in enumerate(blocks)}
    number[None] = len(blocks)
    if root is not None and root[1] not in blocks:
        raise root[0].error(f"there is no block {root[1]}")
    graph = build(
        draft.heading.words[1].text,
        [*blocks, EXIT],
        [(number[arrow.source], number[arrow.target]) for arrow in arrows],
        number[root[1]] if root is not None else 0,
    )
    return GraphText(graph, _weights(graph, arrows), tuple(draft.sections))


def _block(line: Line, word: Word) -> str:
    """The name of a block that may have edges of its own."""
    if word.means(EXIT):
        raise line.error("EXIT has no edges of its own")
    return word.text


def _weights(graph: Graph, arrows: Sequence[_Arrow]) -> tuple[float, ...] | None:
    """The weights as written; the closing edge carries what arrives at EXIT."""
    if all(arrow.weight is None for arrow in arrows):
        return None
    weights = []
    for arrow in arrows:
        if arrow.weight is None:
            raise arrow.line.error("either all edges of a graph have a weight or none")
        weights.append(arrow.weight)
    arriving = sum(arrow.weight or 0.0 for arrow in arrows if arrow.target is None)
    virtual = [arriving if edge.kind is EdgeKind.CLOSING else 0.0 for edge in graph.edges[len(arrows) :]]
    return (*weights, *virtual)
