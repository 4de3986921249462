"""``trodden show``: a function's graph, weights, spanning tree and probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import click

from trodden.commands.output import put
from trodden.errors import InputMissing, OtherBuild, UsageError
from trodden.graph.cfg import Graph
from trodden.graph.text import GraphText, parse_graphs
from trodden.plan.counters import eprof, every_block, vprof_by_blocks, vprof_by_edges
from trodden.plan.probes import Plan
from trodden.profile.export_dot import lines_text
from trodden.profile.model import FunctionFacts, FunctionProfile, SourceFile, UnitFacts
from trodden.report.drawing import Drawing
from trodden.weigh.measured import measured_weights
from trodden.weigh.nesting import nesting_weights

FORMS = ("text", "dot", "svg")
SCHEMES = ("edges", "blocks-by-edges", "blocks-by-blocks", "every-block")


@dataclass(frozen=True)
class _Subject:
    """A function to show, with whatever its file knows of it."""

    title: str
    graph: Graph
    facts: FunctionFacts | None = None
    files: Sequence[SourceFile] = ()
    counts: FunctionProfile | None = None
    expected: Sequence[float] | None = None


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.argument("flags", metavar="[-- COMPILER FLAGS]", nargs=-1)
@click.option("-f", "--function", metavar="NAME", help="Which function; needed if there are several.")
@click.option("--format", "form", type=click.Choice(FORMS), default=FORMS[0], show_default=True)
@click.option("--counters", type=click.Choice(SCHEMES), help="Place counters in this way.")
@click.option("--weights", metavar="FILE.trod", type=click.Path(), help="Weigh edges by what a run measured.")
@click.option("-o", "--output", metavar="OUT", type=click.Path(), help="Write there, not to standard output.")
def show(
    file: str,
    flags: tuple[str, ...],
    function: str | None,
    form: str,
    counters: str | None,
    weights: str | None,
    output: str | None,
) -> None:
    """Show a function of FILE: a C or C++ source, a graph in text form (.cfg) or a profile (.trod)."""
    from trodden.report.graph_dot import to_dot
    from trodden.report.graph_text import to_text
    from trodden.report.svg import to_svg

    subject = _pick(file, _subjects(file, flags), function)
    if weights is not None:
        subject = replace(subject, counts=_measured(weights, subject))
    drawers = {"text": to_text, "dot": to_dot, "svg": to_svg}
    put(drawers[form](draw(subject, counters)), output)


def _subjects(file: str, flags: Sequence[str]) -> dict[str, _Subject]:
    if file.endswith(".trod"):
        from trodden.profile.store import load

        functions = load(file).functions
        return {
            key: _Subject(f"{key} ({each.file}:{each.line})", each.facts.graph, each.facts, each.files, each)
            for key, each in functions.items()
        }
    if file.endswith(".cfg"):
        found = _graphs(file)
        return {
            each.graph.name: _Subject(each.graph.name, each.graph, expected=each.weights) for each in found
        }
    from trodden.native.describe import facts_of_source

    unit = facts_of_source([file, *flags])
    return {each.name: _compiled(unit, each) for each in unit.functions}


def _compiled(unit: UnitFacts, facts: FunctionFacts) -> _Subject:
    title = f"{facts.name} ({unit.files[facts.file].path}:{facts.line})"
    return _Subject(title, facts.graph, facts, unit.files)


def _graphs(file: str) -> list[GraphText]:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            text = stream.read()
    except OSError as error:
        raise InputMissing(f"{file}: cannot be read: {error.strerror}") from error
    return parse_graphs(text, file)


def _pick(file: str, subjects: Mapping[str, _Subject], name: str | None) -> _Subject:
    known = ", ".join(list(subjects)[:8]) + (", ..." if len(subjects) > 8 else "")
    if not subjects:
        raise UsageError(f"{file}: holds no function that can be shown")
    if name is None:
        if len(subjects) > 1:
            raise UsageError(f"{file}: holds several functions, name one with -f: {known}")
        return next(iter(subjects.values()))
    found = subjects.get(name) or next(
        (each for each in subjects.values() if each.facts and each.facts.linkage_name == name), None
    )
    if found is None:
        raise UsageError(f"{file}: holds no function {name!r}; it has {known}")
    return found


def _measured(path: str, subject: _Subject) -> FunctionProfile:
    """The same function in a profile; one with another graph is of no use."""
    from trodden.profile.store import load

    graph = subject.graph
    symbol = subject.facts.linkage_name if subject.facts else graph.name
    profiled = load(path).functions.values()
    same_name = [each for each in profiled if symbol in (each.facts.linkage_name, each.name)]
    if not same_name:
        raise UsageError(f"{path}: holds no function {symbol!r}; profile one that has it")
    for each in same_name:
        if each.facts.graph.labels == graph.labels and each.facts.graph.edges == graph.edges:
            return each
    raise OtherBuild(f"{path}: {symbol} has another graph there; profile this build instead")


def draw(subject: _Subject, counters: str | None) -> Drawing:
    """Weights as measured, or else as BL94 §5 expects them; probes as asked for, or else those in use."""
    graph, counts = subject.graph, subject.counts
    shown: Sequence[float | None]
    if counts is None:
        weights = list(subject.expected) if subject.expected else nesting_weights(graph)
        shown, blocks = weights, [sum(weights[e] for e in ins) for ins in graph.in_edges]
    else:
        weights = measured_weights(graph, counts.edge_counts, counts.block_counts)
        shown, blocks = counts.edge_counts, [float(count) for count in counts.block_counts]
    if counters is None and subject.facts is not None:
        plan = subject.facts.plan
    else:
        plan = _plan(graph, weights, blocks, counters or SCHEMES[0])
    return Drawing(subject.title, graph, _lines(subject), shown, blocks, counts is not None, plan)


def _lines(subject: _Subject) -> list[str]:
    facts = subject.facts
    if facts is None:
        return [""] * subject.graph.exit
    return [lines_text(block.lines, facts.file, subject.files) for block in facts.blocks]


def _plan(graph: Graph, weights: Sequence[float], blocks: Sequence[float], counters: str) -> Plan:
    if counters == "edges":
        return eprof(graph, weights)
    if counters == "blocks-by-edges":
        return vprof_by_edges(graph, weights)
    if counters == "blocks-by-blocks":
        return vprof_by_blocks(graph, blocks)
    return every_block(graph)
