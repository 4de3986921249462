"""``trodden show``: a function's graph, weights, spanning tree and probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import click

from trodden.commands.output import put
from trodden.commands.weights import ESTIMATE, NESTING, load_weights, weighed, weights_of
from trodden.errors import InputMissing, OtherBuild, UsageError
from trodden.export.dot import lines_text
from trodden.graph.cfg import Graph
from trodden.graph.cfg_text import GraphText, parse_graphs
from trodden.native.options import CUTTING_RULES, Options, PathOptions, most_paths
from trodden.plan.counters.schemes import eprof, every_block, vprof_by_blocks, vprof_by_edges
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan
from trodden.profile.model import FunctionProfile
from trodden.program.facts import FunctionFacts, SourceFile, UnitFacts
from trodden.report.graph.drawing import Drawing
from trodden.report.graph.path_plan import PathPlan
from trodden.weigh.features.clues import FunctionClues
from trodden.weigh.frequency.expected import expected_weights
from trodden.weigh.frequency.nesting import nesting_weights
from trodden.weigh.heuristics.rates import default_rates

FORMS = ("text", "dot", "svg")
SCHEMES = ("edges", "blocks-by-edges", "blocks-by-blocks", "every-block")
PROFILES = {"edges": "edges", "blocks": "blocks-by-edges", "paths": None}


@dataclass(frozen=True)
class _Subject:
    """A function to show, with whatever its file knows of it."""

    title: str
    graph: Graph
    facts: FunctionFacts | None = None
    files: Sequence[SourceFile] = ()
    counts: FunctionProfile | None = None
    expected: Sequence[float] | None = None
    compiled: bool = False


@dataclass(frozen=True)
class Asked:
    """How the probes shown are to be placed; ``None`` where the file's own will do.

    With ``any_paths`` those of a profile that has paths will do, however they were chosen.
    """

    counters: str | None = None
    paths: PathOptions | None = None
    any_paths: bool = False


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.argument("flags", metavar="[-- COMPILER FLAGS]", nargs=-1)
@click.option("-f", "--function", metavar="NAME", help="Which function; needed if there are several.")
@click.option("--format", "form", type=click.Choice(FORMS), default=FORMS[0], show_default=True)
@click.option("--profile", type=click.Choice(list(PROFILES)), help="Place the probes of such a profile.")
@click.option("--counters", type=click.Choice(SCHEMES), help="Place counters in this way.")
@click.option("--max-paths", metavar="N|none", help="Paths: how many before some are cut.")
@click.option("--context", is_flag=True, help="Paths: those through a loop together with what led to it.")
@click.option("--cut-by", type=click.Choice(CUTTING_RULES), help="Paths: the rule that chooses the cuts.")
@click.option(
    "--weights",
    metavar="FILE.trod|estimate|nesting",
    type=click.Path(),
    help="Weigh edges by what a run measured, by an estimate, or by how deep loops are nested.",
)
@click.option("-o", "--output", metavar="OUT", type=click.Path(), help="Write there, not to standard output.")
def show(
    file: str,
    flags: tuple[str, ...],
    function: str | None,
    form: str,
    profile: str | None,
    counters: str | None,
    max_paths: str | None,
    context: bool,
    cut_by: str | None,
    weights: str | None,
    output: str | None,
) -> None:
    """Show a function of FILE: a C or C++ source, a graph in text form (.cfg) or a profile (.trod)."""
    from trodden.report.graph.dot import to_dot
    from trodden.report.graph.svg import to_svg
    from trodden.report.graph.text import to_text

    asked = _asked(profile, counters, max_paths, context, cut_by)
    subject = _pick(file, _subjects(file, flags, asked, weights), function)
    if weights == ESTIMATE:
        subject = replace(subject, counts=None, expected=_estimated(subject))
    elif weights == NESTING:
        subject = replace(subject, counts=None, expected=None)
    elif weights is not None:
        subject = replace(subject, counts=_measured(weights, subject))
    drawers = {"text": to_text, "dot": to_dot, "svg": to_svg}
    put(drawers[form](draw(subject, asked)), output)


def _asked(
    profile: str | None, counters: str | None, max_paths: str | None, context: bool, cut_by: str | None
) -> Asked:
    """What the options come to, if they agree."""
    if profile != "paths":
        if max_paths is not None or context or cut_by is not None:
            raise UsageError("--max-paths, --context and --cut-by go with --profile paths")
        return Asked(counters or (PROFILES[profile] if profile is not None else None))
    if counters is not None:
        raise UsageError(f"--counters {counters}: paths need no counters; leave it out")
    try:
        most = most_paths(max_paths or "")
    except ValueError as error:
        raise UsageError(f"--max-paths {max_paths}: {error}") from error
    options = PathOptions(most, context, cutting=cut_by or CUTTING_RULES[0])
    return Asked(paths=options, any_paths=max_paths is None and cut_by is None and not context)


def _subjects(file: str, flags: Sequence[str], asked: Asked, weights: str | None) -> dict[str, _Subject]:
    if file.endswith(".trod"):
        from trodden.profile.store.trod import load

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
    from trodden.native.driver.build import CompilerFailed
    from trodden.native.driver.describe import facts_of_source

    options = Options(paths=asked.paths)
    try:
        unit = facts_of_source([file, *flags], options if weights is None else weighed(options, weights))
    except CompilerFailed as failure:
        # The compiler has said what is wrong; there is nothing to add but its status.
        raise SystemExit(failure.status) from failure
    return {each.name: _compiled(unit, each) for each in unit.functions}


def _compiled(unit: UnitFacts, facts: FunctionFacts) -> _Subject:
    title = f"{facts.name} ({unit.files[facts.file].path}:{facts.line})"
    return _Subject(title, facts.graph, facts, unit.files, compiled=True)


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


def _estimated(subject: _Subject) -> list[float]:
    """What the function is expected to do; nothing but the graph is known of one in text form."""
    clues = subject.facts.clues if subject.facts is not None else FunctionClues()
    return expected_weights(subject.graph, clues, default_rates())


def _measured(path: str, subject: _Subject) -> FunctionProfile:
    """The same function in a profile; one with another graph is of no use."""
    graph = subject.graph
    symbol = subject.facts.linkage_name if subject.facts else graph.name
    profiled = load_weights(path).functions.values()
    same_name = [each for each in profiled if symbol in (each.facts.linkage_name, each.name)]
    if not same_name:
        raise UsageError(f"{path}: holds no function {symbol!r}; profile one that has it")
    for each in same_name:
        if each.facts.graph.labels == graph.labels and each.facts.graph.edges == graph.edges:
            return each
    raise OtherBuild(f"{path}: {symbol} has another graph there; profile this build instead")


def draw(subject: _Subject, asked: Asked) -> Drawing:
    """Weights as measured, or else as BL94 §5 expects them; probes as asked for, or else those in use."""
    graph, counts = subject.graph, subject.counts
    shown: Sequence[float | None]
    if counts is None:
        weights = list(subject.expected) if subject.expected else nesting_weights(graph)
        shown, blocks = weights, [sum(weights[e] for e in ins) for ins in graph.in_edges]
    else:
        weights = weights_of(counts)
        shown, blocks = counts.edge_counts, [float(count) for count in counts.block_counts]
    if subject.facts is not None and _as_it_is(subject, asked):
        plan = subject.facts.plan
        nesting = nesting_weights(graph)
        chosen_by = [weights, nesting] if subject.compiled else [nesting, weights]
    else:
        plan = _plan(graph, weights, blocks, asked)
        chosen_by = [weights]
    numbered = PathPlan.of(graph, plan, chosen_by, _walked(plan, counts))
    measured = counts is not None and not counts.estimated
    title = f"{subject.title}, estimated" if counts is not None and counts.estimated else subject.title
    return Drawing(title, graph, _lines(subject), shown, blocks, measured, plan, numbered)


def _walked(plan: Plan, counts: FunctionProfile | None) -> dict[int, int] | None:
    """The counts of paths by number, if they are numbered as in the plan."""
    if counts is None or counts.paths is None or counts.facts.plan.paths != plan.paths:
        return None
    return {path.id: path.count for path in counts.paths}


def _as_it_is(subject: _Subject, asked: Asked) -> bool:
    """Whether the plan that the function came with is what is asked for."""
    assert subject.facts is not None
    if asked.counters is not None:
        return False
    if asked.paths is None or subject.compiled:
        return True
    return asked.any_paths and subject.facts.plan.paths is not None


def _lines(subject: _Subject) -> list[str]:
    facts = subject.facts
    if facts is None:
        return [""] * subject.graph.exit
    return [lines_text(block.lines, facts.file, subject.files) for block in facts.blocks]


def _plan(graph: Graph, weights: Sequence[float], blocks: Sequence[float], asked: Asked) -> Plan:
    if asked.paths is not None:
        limit, context, rule = asked.paths.most, asked.paths.context, asked.paths.cutting
        return path_plan(graph, weights, limit=limit, context=context, rule=rule)
    if asked.counters == "blocks-by-edges":
        return vprof_by_edges(graph, weights)
    if asked.counters == "blocks-by-blocks":
        return vprof_by_blocks(graph, blocks)
    if asked.counters == "every-block":
        return every_block(graph)
    return eprof(graph, weights)
