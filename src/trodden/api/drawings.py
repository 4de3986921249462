"""Drawings: a function's graph, with its weights, its spanning tree and the probes on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from trodden.api.builds import with_weights
from trodden.api.weights import load_weights, weights_of
from trodden.errors import InputMissing, OtherBuild, UsageError
from trodden.export.dot import lines_text
from trodden.graph.cfg import Graph
from trodden.graph.cfg_text import GraphText, parse_graphs
from trodden.native.options.declarations import ESTIMATE, NESTING, Options
from trodden.native.options.given import Given, choose
from trodden.plan.counters.schemes import eprof, every_block, vprof_by_blocks, vprof_by_edges
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan
from trodden.profile.model import FunctionProfile
from trodden.profile.select import without_parameters
from trodden.program.facts import FunctionFacts, SourceFile, UnitFacts
from trodden.report.graph.drawing import Drawing
from trodden.report.graph.path_plan import PathPlan
from trodden.weigh.features.block_features import FunctionFeatures
from trodden.weigh.frequency.expected import expected_weights
from trodden.weigh.frequency.nesting import nesting_weights
from trodden.weigh.heuristics.rates import default_rates

_LISTED = 8


@dataclass(frozen=True)
class _Subject:
    """A function to draw, with whatever its file knows of it."""

    title: str
    graph: Graph
    facts: FunctionFacts | None = None
    files: Sequence[SourceFile] = ()
    counts: FunctionProfile | None = None
    expected: Sequence[float] | None = None
    compiled: bool = False


@dataclass(frozen=True)
class Request:
    """How probes and weights are to be chosen: the options, and those among them that were named.

    What was not named is as the file has it, where it has probes and weights.
    """

    options: Options
    named: frozenset[str]

    @staticmethod
    def of(flags: Sequence[Given]) -> Request:
        """The request that flags make, if they agree."""
        options = choose(flags, {})
        if options.paths and options.counters is not None:
            raise UsageError(f"--counters={options.counters}: paths need no counters; leave it out")
        return Request(options, frozenset(each.option.name for each in flags))

    @property
    def weights(self) -> str | None:
        """The weights that were named: a file, or a way to estimate them."""
        return self.options.weights if "weights" in self.named else None

    @property
    def plans_anew(self) -> bool:
        """Whether a scheme of counters was named, so that the probes that a function has are not shown."""
        return not self.options.paths and bool(self.named & {"profile", "counters"})

    @property
    def any_paths(self) -> bool:
        """Whether path probes will do however their cuts were chosen."""
        return self.named.isdisjoint({"max-paths", "context", "cut-by"})


def draw(file: str, flags: Sequence[str], function: str | None, request: Request) -> Drawing:
    """The drawing of a function of a source, a graph in text form (.cfg) or a profile (.trod).

    ``flags`` are the compiler's, for a source.  :class:`trodden.native.driver.build.CompilerFailed` is raised
    if it cannot be compiled.
    """
    subject = _pick(file, _subjects(file, flags, request), function)
    weights = request.weights
    if weights == ESTIMATE:
        subject = replace(subject, counts=None, expected=_estimated(subject))
    elif weights == NESTING:
        subject = replace(subject, counts=None, expected=None)
    elif weights is not None:
        subject = replace(subject, counts=_measured(weights, subject))
    return _drawing(subject, request)


def _subjects(file: str, flags: Sequence[str], request: Request) -> dict[str, _Subject]:
    if file.endswith(".trod"):
        from trodden.api.traces import load, with_counts

        profile = load(file)
        counted = with_counts(profile).functions
        return {
            key: _Subject(
                f"{key} ({each.file}:{each.line})",
                each.facts.graph,
                each.facts,
                each.files,
                counted.get(key, each),
            )
            for key, each in profile.functions.items()
        }
    if file.endswith(".cfg"):
        found = _graphs(file)
        return {
            each.graph.name: _Subject(each.graph.name, each.graph, expected=each.weights) for each in found
        }
    from trodden.native.driver.describe import facts_of_source

    # Other schemes than the default are planned here, by the weights that are shown.
    options = request.options
    planned = options if options.paths else replace(options, profile="edges", counters=None)
    unit = facts_of_source([file, *flags], with_weights(planned))
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
    known = _listed(subjects)
    if not subjects:
        raise UsageError(f"{file}: holds no function that can be shown")
    if name is None:
        if len(subjects) > 1:
            raise UsageError(f"{file}: holds several functions, name one with -f: {known}")
        return next(iter(subjects.values()))
    found = [key for key, each in subjects.items() if name in _names(key, each)] or [
        key for key, each in subjects.items() if any(fnmatchcase(one, name) for one in _names(key, each))
    ]
    if not found:
        raise UsageError(f"{file}: holds no function {name!r}; it has {known}")
    if len(found) > 1 and name not in subjects:
        raise UsageError(f"{file}: {name!r} matches several functions, name one of them: {_listed(found)}")
    return subjects[name if name in subjects else found[0]]


def _names(key: str, subject: _Subject) -> tuple[str, ...]:
    """The names of a function: that in the file, the linkage name, the one without parameters."""
    return key, subject.facts.linkage_name if subject.facts else key, without_parameters(key)


def _listed(names: Iterable[str]) -> str:
    first = list(names)
    return ", ".join(first[:_LISTED]) + (", ..." if len(first) > _LISTED else "")


def _estimated(subject: _Subject) -> list[float]:
    """The expected weights; of a graph in text form nothing but the graph is known."""
    features = subject.facts.features if subject.facts is not None else FunctionFeatures()
    return expected_weights(subject.graph, features, default_rates())


def _measured(path: str, subject: _Subject) -> FunctionProfile:
    """The same function in a profile, which has to have the same graph there."""
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


def _drawing(subject: _Subject, request: Request) -> Drawing:
    """Weights as measured, or else as BL94 §5 expects them; probes as asked for, or else those in use."""
    graph, counts = subject.graph, subject.counts
    shown: Sequence[float | None]
    if counts is None:
        weights = list(subject.expected) if subject.expected else nesting_weights(graph)
        shown, blocks = weights, [sum(weights[e] for e in ins) for ins in graph.in_edges]
    else:
        weights = weights_of(counts)
        shown, blocks = counts.edge_counts, [float(count) for count in counts.block_counts]
    if subject.facts is not None and _has_requested_plan(subject, subject.facts, request):
        plan = subject.facts.plan
        nesting = nesting_weights(graph)
        chosen_by = [weights, nesting] if subject.compiled else [nesting, weights]
    else:
        plan = _plan(graph, weights, blocks, request.options)
        chosen_by = [weights]
    numbered = PathPlan.of(graph, plan, chosen_by, _path_counts(plan, counts))
    measured = counts is not None and not counts.estimated
    title = f"{subject.title}, estimated" if counts is not None and counts.estimated else subject.title
    return Drawing(title, graph, _lines(subject), shown, blocks, measured, plan, numbered)


def _path_counts(plan: Plan, counts: FunctionProfile | None) -> dict[int, int] | None:
    """The counts of paths by number, if they are numbered as in the plan."""
    if counts is None or counts.paths is None or counts.facts.plan.paths != plan.paths:
        return None
    return {path.id: path.count for path in counts.paths}


def _has_requested_plan(subject: _Subject, facts: FunctionFacts, request: Request) -> bool:
    """Whether the plan that the function comes with is what is asked for."""
    if request.plans_anew:
        return False
    if not request.options.paths or subject.compiled:
        return True
    return request.any_paths and facts.plan.paths is not None


def _lines(subject: _Subject) -> list[str]:
    facts = subject.facts
    if facts is None:
        return [""] * subject.graph.exit
    return [lines_text(block.lines, facts.file, subject.files) for block in facts.blocks]


def _plan(graph: Graph, weights: Sequence[float], blocks: Sequence[float], options: Options) -> Plan:
    if options.paths:
        limit, context, rule = options.max_paths, options.context, options.cut_by
        return path_plan(graph, weights, limit=limit, context=context, rule=rule)
    if options.scheme == "blocks-by-edges":
        return vprof_by_edges(graph, weights)
    if options.scheme == "blocks-by-blocks":
        return vprof_by_blocks(graph, blocks)
    if options.scheme == "every-block":
        return every_block(graph)
    return eprof(graph, weights)
