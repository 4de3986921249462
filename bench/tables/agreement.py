"""Agreement: trodden's counts compared with those of other tools, and with its own redundant counters."""

from __future__ import annotations

from collections import Counter

from bench.figures.edge_agreement import EdgeAgreement
from bench.figures.line_agreement import TOOLS, LineAgreement
from bench.figures.path_agreement import PathAgreement
from bench.measures.model import Figures, Json
from bench.oracles.line_differences import Reason
from bench.suite.sources import SourceFiles
from bench.tables.layout.cells import picked, quotient, under
from bench.tables.layout.means import Cell
from bench.tables.layout.model import Column, Programs, Section, Table
from bench.tables.layout.values import COUNT, FINE_SHARE, TEXT, Value

_LINES, _EDGES, _PATHS = LineAgreement(), EdgeAgreement(), PathAgreement()
_LABELS = dict(zip(TOOLS, ("clang's gcov", "gcc's gcov", "llvm-cov"), strict=True))

_REASONS = {
    Reason.MENTIONS: "mentions",
    Reason.STARTS: "entries",
    Reason.CUT_SHORT: "no return",
    Reason.JUMP: "jump",
    Reason.FUNCTION: "function",
    Reason.EARLY: "inlined",
}


def _differences(figures: Figures) -> list[Json]:
    found: list[Json] = (figures.get(_LINES.key) or {}).get("differences", [])
    return found


def _as_none(figures: Figures) -> Value | None:
    return len(_differences(figures)) if _LINES.key in figures else None


def _as_one(of: str) -> Cell:
    """The share of lines, or of those that ran, that have the count of at least one other tool."""

    def cell(figures: Figures) -> Value | None:
        lines = (figures.get(_LINES.key) or {}).get(of)
        return (lines - len(_differences(figures))) / lines if lines else None

    return cell


def _with_reason(reason: str) -> Cell:
    def cell(figures: Figures) -> Value | None:
        if _LINES.key not in figures:
            return None
        return Counter(each["reason"] for each in _differences(figures))[reason]

    return cell


def _by_difference(programs: Programs, overall: Json) -> Programs:
    """One row a line that has the count of no other tool."""
    return {
        f"{name}: {each['file']}:{each['line']}": each
        for name, figures in programs.items()
        for each in _differences(figures)
    }


def _not_profiled(figures: Figures) -> Value | None:
    found = figures.get(_PATHS.key)
    return None if found is None else len(found["not profiled"])


def _count(name: str, head: str, cell: Cell) -> Column:
    return Column(name, head, cell, COUNT)


_SECTIONS = (
    Section(
        "lines",
        "Line counts compared with three tools",
        (
            _count("lines", "lines", picked(_LINES, "lines")),
            _count("ran", "executed", picked(_LINES, "ran")),
            *(
                Column(
                    tool,
                    f"as {_LABELS[tool]}",
                    quotient(picked(_LINES, "equal", tool), picked(_LINES, "known", tool)),
                    FINE_SHARE,
                )
                for tool in TOOLS
            ),
        ),
        "Without optimisation, where the tools can be compared. *Lines* are those that trodden and at least "
        "one of the three know; *executed* are those that at least one of the four saw executed. Each share "
        "is of the lines that trodden and the tool both know.",
    ),
    Section(
        "summary",
        "Lines that agree with some tool",
        (
            Column("one", "as at least one of three", _as_one("lines"), FINE_SHARE),
            Column("one-ran", "of executed lines", _as_one("ran"), FINE_SHARE),
            _count("none", "as none", _as_none),
            Column(
                "apart",
                "as gcc's gcov or llvm-cov",
                quotient(picked(_LINES, "apart equal"), picked(_LINES, "apart")),
                FINE_SHARE,
            ),
            _count("against", "these two agree, against trodden", picked(_LINES, "against")),
        ),
        "The three tools contradict each other, so that no count can equal all of them. The first columns "
        "are the weaker evidence: clang's gcov has the compiler, the line numbers and the rule of counting "
        "of trodden. gcc's gcov and llvm-cov are independent.",
    ),
    Section(
        "reasons",
        "Reasons why a line agrees with no tool",
        (
            *(_count(each.name.lower(), label, _with_reason(each.value)) for each, label in _REASONS.items()),
            _count("unknown", "no reason found", _with_reason("")),
        ),
        "Each reason is checked by a computation: it predicts the count of another tool exactly, or shows by "
        "other lines of the function that the tool is wrong there. "
        + " ".join(f"*{label.capitalize()}*: {reason.value}." for reason, label in _REASONS.items()),
    ),
    Section(
        "differences",
        "The lines that agree with no tool",
        (
            _count("ours", "trodden", under("ours")),
            *(_count(tool, _LABELS[tool], under(tool)) for tool in TOOLS),
            Column("reason", "reason", under("reason"), TEXT),
        ),
        rows=_by_difference,
        first="line",
    ),
    Section(
        "edges",
        "Edges: few counters compared with one on every edge",
        (
            _count("functions", "functions", picked(_EDGES, "functions")),
            _count("edges", "edges", picked(_EDGES, "edges")),
            _count("counters", "counters", picked(_EDGES, "counters")),
            _count("wrong-functions", "functions that differ", picked(_EDGES, "functions that differ")),
            _count("wrong", "counts that differ", picked(_EDGES, "counts that differ")),
            _count("one-run", "differences in one run", picked(_EDGES, "violations")),
        ),
        "Edge and block counts that are recovered from few counters, and those of a build with a counter on "
        "every edge; in the last column both are in one build and one run.",
    ),
    Section(
        "paths",
        "Paths compared with a counter on every edge",
        (
            _count("functions", "functions", picked(_PATHS, "functions")),
            _count("edges", "edges compared", picked(_PATHS, "edges")),
            _count("taken", "of these taken", picked(_PATHS, "taken")),
            _count("paths", "executed paths", picked(_PATHS, "paths")),
            _count("wrong", "differences", picked(_PATHS, "differences")),
            _count("not-profiled", "functions without profile", _not_profiled),
        ),
        "With `--profile paths --counters checked` every edge has a counter in addition to the paths, in the "
        "same run.",
    ),
)

TABLE = Table(
    name="agreement",
    title="Agreement with other tools",
    description=(
        "Counts that two independent computations should make equal: lines compared with gcov and llvm-cov, "
        "edges and paths compared with a counter on every edge."
    ),
    measures=(_LINES, _EDGES, _PATHS),
    sections=_SECTIONS,
    programs=lambda program: isinstance(program.source, SourceFiles),
)
