"""Scores of estimates: the figures of the paper, rows, means over programs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

import pytest

from bench.figures import cross_validation
from bench.figures.estimate_evaluation import LEVELS, LLVM, PAPER, SHIPPED, EstimateEvaluation, is_scored
from bench.figures.estimate_scores import scores
from bench.measures.model import Figures, Json
from bench.page.plots import drawn
from bench.papers.wl94 import COMMANDS, KINDS, LONG, PERCENTS, SCORES, SHORT, SPEC, SPEC92, SPEC92_MEANS, UNIX
from bench.run.scripted import ScriptedProgram
from bench.suite import SUITE
from bench.suite.calibration import FITTED_TO
from bench.tables.layout.cells import under
from bench.tables.layout.grid import grid
from bench.tables.layout.means import AVERAGE
from bench.tables.layout.model import Section
from bench.tables.layout.values import FINE
from bench.tables.wl94 import TABLE
from bench.tables.wl94_scores import (
    FITTED,
    GEOMETRIC,
    by_group,
    by_kind_and_percent,
    scored,
    scores_of,
)
from tests.profile.making import function, profile_of, unit_of
from trodden.compare.matching import PERCENTS as SCORED
from trodden.compare.matching import score


def _scores(weighted: float | None) -> Json:
    """Scores that are alike for all kinds and percentages, unweighted half as high."""
    pair = None if weighted is None else [weighted / 2, weighted]
    return {kind: [pair for _ in PERCENTS] for kind in KINDS}


def _figures(paper: float | None, shipped: float, llvm: float) -> Figures:
    found = {PAPER: _scores(paper), SHIPPED: _scores(shipped), LLVM: _scores(llvm)}
    return {f"estimated/{level}": found for level in LEVELS}


PROGRAMS = {
    "bzip2": _figures(0.25, 0.5, 0.0),
    "wc": _figures(1.0, 0.9, 0.4),
    "uniq": _figures(None, 0.7, 0.8),
}
WHOLE = {"scores": {"wc": {"O0": _scores(0.6), "O2": _scores(0.8)}}, "rates": {}}


def _section(name: str) -> Section:
    (found,) = [section for section in TABLE.sections if section.name == name]
    return found


def test_the_rows_of_the_paper_have_its_means() -> None:
    odd = {("invocations", 30, 0)}
    for kind in KINDS:
        for position, percent in enumerate(PERCENTS):
            for which in (0, 1):
                column = [pairs[position][which] for pairs in SPEC92[kind].values()]
                printed = SPEC92_MEANS[kind][position][which]
                near = prod(column) ** (1 / len(column)) == pytest.approx(printed, abs=0.0101)
                assert near is ((kind, percent, which) not in odd)
    for scores_of_all, average in zip(zip(*COMMANDS.values(), strict=True), UNIX, strict=True):
        assert sum(scores_of_all) / len(scores_of_all) == pytest.approx(average, abs=0.0101)


def test_the_kinds_of_scores_are_those_of_the_paper() -> None:
    profile = profile_of(unit_of(function("main", "a>exit")), {"main": {"a>exit": 1}})
    assert tuple(score(profile, profile).kinds) == KINDS
    assert SCORED == PERCENTS
    assert {len(row) for row in (SHORT, LONG, SPEC, UNIX, *SCORES.values())} == {len(KINDS)}
    assert SCORES["espresso"] == (0.78, 0.68, 0.83, 0.76, 0.74, 0.75)
    assert SCORES["wc"] == (0.92, 0.55, 1.0, 1.0, 0.95, 0.91)


def test_scores_are_plain_numbers_of_all_percentages() -> None:
    unit = unit_of(function("main", "a>b a>c b>exit c>exit"))
    right = profile_of(unit, {"main": {"a>b": 9, "a>c": 1, "b>exit": 9, "c>exit": 1}})
    wrong = profile_of(unit, {"main": {"a>b": 1, "a>c": 9, "b>exit": 1, "c>exit": 9}})
    found = scores(wrong, right)
    assert list(found) == list(KINDS)
    assert {len(row) for row in found.values()} == {len(PERCENTS)}
    assert found["global_blocks"][0] == [1.0, 1.0]
    # Four edges, two of them in the top half: of a count of 9 each the wrong estimate has none.
    assert found["global_edges"][-1] == [0.0, 0.0]
    assert found["calls"] == [None] * len(PERCENTS)


def test_a_program_has_a_row_with_all_its_estimates() -> None:
    rows = scores_of("O2")(PROGRAMS, WHOLE)
    assert list(rows) == ["bzip2", "wc", "uniq"]
    assert scored(SHIPPED, "calls", 20)(rows["wc"]) == 0.9
    assert scored(SHIPPED, "calls", 50, 0)(rows["wc"]) == 0.45
    assert scored(FITTED, "calls", 20)(rows["wc"]) == 0.8
    assert scored(FITTED, "calls", 20)(rows["bzip2"]) is None
    assert scored(PAPER, "calls", 20)(rows["uniq"]) is None


def test_without_all_programs_there_are_no_fitted_rates() -> None:
    rows = scores_of("O0")(PROGRAMS, None)
    assert {scored(FITTED, kind, 10)(row) for kind in KINDS for row in rows.values()} == {None}


def test_means_omit_missing_scores() -> None:
    rows = list(scores_of("O0")(PROGRAMS, WHOLE).values())
    found = [mean.of(scored(PAPER, "calls", 20), rows) for mean in (GEOMETRIC, AVERAGE)]
    assert [FINE(each or 0) for each in found] == ["0.500 (2 of 3)", "0.625 (2 of 3)"]
    assert GEOMETRIC.of(scored(LLVM, "calls", 20), rows) == 0.0
    assert AVERAGE.of(scored(LLVM, "calls", 20), rows) == pytest.approx(0.4)
    assert GEOMETRIC.of(scored(FITTED, "calls", 20), rows[:1]) is None


def test_means_stand_beside_the_paper() -> None:
    rows = by_kind_and_percent("O0", (GEOMETRIC, AVERAGE))(PROGRAMS, WHOLE)
    assert len(rows) == len(KINDS) * len(PERCENTS)
    row = rows["global edges, 20%"]
    section = _section("O0-means")
    cells = {column.name: column.cell(row) for column in section.columns}
    assert cells["shipped-average"] == pytest.approx(0.7)
    assert FINE(cells["fitted-geometric mean"] or 0) == "0.600 (1 of 3)"
    assert cells["paper-geometric mean"] == 0.78
    assert cells["paper-average"] == pytest.approx((0.75 + 0.85 + 0.99 + 0.82 + 0.91 + 0.49) / 6)


def test_averages_are_drawn_beside_averages() -> None:
    for plot in TABLE.plots:
        assert plot.series
        assert {name.rpartition("-")[2] for name in plot.series} == {AVERAGE.label}
        found = drawn(plot, grid(_section(plot.section), PROGRAMS, WHOLE))
        assert found is not None
        assert "WL94, SPECint92, average" in found
        assert GEOMETRIC.label not in found


def test_averages_of_groups_stand_beside_averages_of_the_paper() -> None:
    paper = {row.label: row.cells for row in _section("O2-groups").paper}
    assert list(paper) == ["SPECint92, average, WL94", "Unix commands, average, WL94"]
    # Table 5, weighted, at 20 percent.
    calls = (0.76 + 0.84 + 0.98 + 1.0 + 0.70 + 0.32) / 6
    assert paper["SPECint92, average, WL94"]["calls"] == pytest.approx(calls)
    assert paper["Unix commands, average, WL94"]["calls"] == 0.76


def test_packages_that_the_shipped_rates_were_fitted_to_are_named() -> None:
    assert (
        "in part to others of the same packages (coreutils, diffutils), which share code" in TABLE.description
    )


def test_unix_commands_have_separate_means() -> None:
    rows = by_group("O2")(PROGRAMS, None)
    calls = {label: under("calls")(row) for label, row in rows.items()}
    assert calls["rates of trodden: Unix commands"] == pytest.approx(0.8)
    assert calls["rates of trodden: others"] == pytest.approx(0.5)
    assert calls["rates fitted to other packages: all"] is None
    alone = by_group("O2")({"bzip2": PROGRAMS["bzip2"]}, None)
    assert "rates of WL94: Unix commands" not in alone


def test_sections_have_the_paper_in_their_own_columns() -> None:
    for section in TABLE.sections:
        names = {column.name for column in section.columns}
        assert all(row.cells.keys() <= names for row in section.paper)
    (row,) = [each for each in _section("O2-local_edges").paper if each.label == "gcc, WL94"]
    assert (row.source, row.cells["U20"], row.cells["W20"]) == ("WL94 Table 3", 0.52, 0.60)


def test_programs_that_rates_were_fitted_to_are_not_scored() -> None:
    about = {program.name for program in SUITE if TABLE.covers(program)}
    assert about == {program.name for program in SUITE if is_scored(program)}
    assert not about & FITTED_TO
    assert "redis" not in about


def test_cross_validation_needs_all_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cross_validation, "_KEPT", tmp_path / "kept.json")
    monkeypatch.setattr(ScriptedProgram, "fingerprint", lambda scripted: scripted.name)
    assert cross_validation.cross_validated({"wc"}, complete=False) is None
    built: list[int] = []

    def validate(programs: Sequence[ScriptedProgram], scored: Sequence[ScriptedProgram]) -> Json:
        built.append(len(scored))
        return WHOLE

    monkeypatch.setattr(cross_validation, "_validate", validate)
    assert cross_validation.cross_validated({"wc"}, complete=True) == WHOLE
    assert cross_validation.cross_validated({"wc"}, complete=True) == WHOLE
    assert cross_validation.cross_validated({"wc"}, complete=False) == WHOLE
    monkeypatch.setattr(ScriptedProgram, "fingerprint", lambda scripted: "changed")
    assert cross_validation.cross_validated({"wc"}, complete=False) is None
    assert built == [len(LEVELS)]


def test_both_levels_are_figures_of_their_own() -> None:
    assert [measure.key for measure in TABLE.measures] == ["estimated/O0", "estimated/O2"]
    assert {measure.tools for measure in TABLE.measures} == {("opt-22",)}
    assert not any(measure.exclusive for measure in TABLE.measures)
    assert isinstance(TABLE.measures[0], EstimateEvaluation)
