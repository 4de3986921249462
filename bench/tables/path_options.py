"""The cost of options of path profiles (cuts, cycles, loop context, last paths) and of call paths."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import CUT_LIMITS, CUT_RULES, cut_config, label_of, with_baselines
from bench.figures.call_paths import call_path_figures
from bench.figures.increments import increment_figures
from bench.figures.path_tables import path_tables
from bench.measures.instructions import Instructions
from bench.measures.model import Figures
from bench.measures.profiled import Profiled
from bench.measures.times import Times
from bench.tables.layout.cells import picked, quotient
from bench.tables.layout.means import GEOMETRIC, Cell
from bench.tables.layout.model import Column, Section, Table
from bench.tables.layout.ratios import instruction_ratio, instructions, time_ratio
from bench.tables.layout.values import ADDED, BYTES, COUNT, FACTOR, SHARE, Value

_PROGRAMS = frozenset({"bzip2", "lua", "sqlite", "evaluator", "espresso"})
"""Every configuration is a further build, so not all programs are measured."""

_EDGES, _PATHS = "edges", "paths"
_UNCUT = "paths-uncut"
_CUTS = (
    *(cut_config(rule, limit) for limit in CUT_LIMITS for rule in CUT_RULES),
    cut_config("loops", "1024"),
    _UNCUT,
)
_CONTEXT, _LAST, _LAST_MANY = "paths-context", "paths-last-64", "paths-last-4096"
_CALL_PATHS = "edges-call-paths"
_OPTIONS = (_PATHS, "paths-cycles", _CONTEXT, _LAST, _LAST_MANY)

_INCREMENTS = {
    config: Profiled(config, what="increments", compute=increment_figures)
    for config in (*_CUTS, _PATHS, _CONTEXT, _LAST)
}
_TABLES = Profiled(_PATHS, what="path tables", compute=path_tables)
_CALLS = Profiled(_CALL_PATHS, what="call paths", compute=call_path_figures)


def _more(config: str, than: str) -> Cell:
    """The instructions that one configuration executes more than another."""

    def cell(figures: Figures) -> Value | None:
        one, other = instructions(figures, config), instructions(figures, than)
        return None if one is None or other is None else one - other

    return cell


def _added(config: str) -> Column:
    return Column(config, label_of(config), partial(instruction_ratio, config=config), ADDED, (GEOMETRIC,))


def _share(config: str, name: str) -> Column:
    found = partial(picked, _INCREMENTS[config])
    return Column(config, label_of(config), quotient(found(name), found("increments")), SHARE)


_RULES = (
    "*cheapest*, with a limit of 1024, is the default; *node* is the rule of BL96 (§5.3); *loops* also cuts "
    "the entries of loops. *No limit* cuts only functions with more than 2^63 paths; functions with too many "
    "paths for a table count in hash tables."
)
_SECTIONS = (
    Section("cuts", "Added instructions by rule and limit of cuts", tuple(map(_added, _CUTS)), _RULES),
    Section(
        "cut-increments",
        "Increments that are caused by cuts",
        tuple(_share(config, "cut") for config in _CUTS),
        "The share of increments at which a path ended only because its function has too many.",
    ),
    Section(
        "hashed-increments",
        "Increments of hash tables",
        tuple(_share(config, "hashed") for config in _CUTS),
    ),
    Section(
        "options",
        "Added instructions by option",
        tuple(map(_added, _OPTIONS)),
        "The ring of last paths (`--last`) costs nearly the same whatever its length.",
    ),
    Section(
        "time",
        "Added time by option",
        tuple(
            Column(config, label_of(config), partial(time_ratio, config=config), ADDED, (GEOMETRIC,))
            for config in (*_OPTIONS, _CALL_PATHS)
        ),
    ),
    Section(
        "details",
        "Executed paths, and instructions for each completed path",
        (
            Column("paths", "executed paths", picked(_INCREMENTS[_PATHS], "walked"), COUNT),
            Column("context", "with loop context", picked(_INCREMENTS[_CONTEXT], "walked"), COUNT),
            Column("ended", "completed paths", picked(_INCREMENTS[_LAST], "ended"), COUNT),
            Column(
                "last",
                "instructions of the ring for each",
                quotient(_more(_LAST, _PATHS), picked(_INCREMENTS[_LAST], "ended")),
                FACTOR,
            ),
        ),
    ),
    Section(
        "call-paths",
        "Call paths",
        (
            Column("calls", "calls", picked(_CALLS, "calls"), COUNT),
            Column("paths", "different call paths", picked(_CALLS, "paths"), COUNT),
            Column(
                "each",
                "instructions a call",
                quotient(_more(_CALL_PATHS, _EDGES), picked(_CALLS, "calls")),
                FACTOR,
            ),
            Column(
                "added",
                "added to edges",
                quotient(partial(instructions, config=_CALL_PATHS), partial(instructions, config=_EDGES)),
                ADDED,
                (GEOMETRIC,),
            ),
        ),
        "`--call-paths` added to an edge profile of the same program.",
    ),
    Section(
        "tables",
        "Tables of counters",
        (
            Column("counters", "all counters of a thread", picked(_TABLES, "counters"), BYTES),
            Column("paths", "of these by path number", picked(_TABLES, "paths"), BYTES),
        ),
        "The measurement fails if the tables of paths take more than 64 MiB.",
    ),
)

TABLE = Table(
    name="path-options",
    title="Options of path profiles",
    description=(
        "What the choices of a path profile cost: where functions with too many paths are cut, cycles, loop "
        "context, the last paths of each thread; and call paths in addition to edges. What is added is "
        "relative to the plain build."
    ),
    measures=(
        *(Instructions(config) for config in with_baselines((*_CUTS, *_OPTIONS, _EDGES, _CALL_PATHS))),
        Times((*_OPTIONS, _CALL_PATHS)),
        *_INCREMENTS.values(),
        _TABLES,
        _CALLS,
    ),
    sections=_SECTIONS,
    programs=lambda program: program.name in _PROGRAMS,
)
