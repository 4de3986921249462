"""Counts that threads lose: counters of all profilers read back, compared, and shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import suite
from bench.figures.lost_counts import Deviation, LostCounts, deviation, steady, total
from bench.figures.own_counts import compare_own_counts
from bench.measures.model import Figures
from bench.oracles.counters import from_gcda, from_profdata, of_profile
from bench.suite.threaded import SAME_WORK, THREADS
from bench.support.errors import BenchError
from bench.tables import registry
from bench.tables.layout.model import Section
from bench.tables.layout.values import Spread
from bench.tables.threads import PART, TABLE, compared, from_least_to_most, lost_most, lost_share
from tests.profile.making import function, profile_of, unit_of

PROFDATA = """\
Counters:
  /home/a/blocksort.c;mainGtU:
    Hash: 0x1
    Counters: 3
    Block counts: [7, 0, 12]
  BZ2_blockSort:
    Hash: 0x2
    Counters: 1
    Block counts: [4]
Instrumentation level: IR
"""

GCDA = """\
gcov/b/03-blocksort.gcda:data:magic `gcda':version `B22*'
gcov/b/03-blocksort.gcda:stamp 3772719472
gcov/b/03-blocksort.gcda:  01000000:  12:FUNCTION ident=11, lineno_checksum=0xab, cfg_checksum=0x3a495fa7
gcov/b/03-blocksort.gcda:    01a10000:  80:COUNTERS arcs 10 counts
gcov/b/03-blocksort.gcda:                   0: 1 0 1 0 0 8 8 0@
gcov/b/03-blocksort.gcda:                   8: 5 6@
gcov/b/03-blocksort.gcda:  01000000:  12:FUNCTION ident=12, lineno_checksum=0xab, cfg_checksum=0x4bfb8943
gcov/b/03-blocksort.gcda:    01a10000: -24:COUNTERS arcs -3 counts
""".replace("@", " ")


def test_counters_of_clang() -> None:
    found = from_profdata(PROFDATA.splitlines())
    assert found == {"blocksort:mainGtU": {0: 7, 1: 0, 2: 12}, ":BZ2_blockSort": {0: 4}}


def test_counters_of_gcc() -> None:
    found = from_gcda(GCDA.splitlines())
    assert list(found) == ["blocksort:ab", "blocksort:ab#2"]
    assert list(found["blocksort:ab"].values()) == [1, 0, 1, 0, 0, 8, 8, 0, 5, 6]
    assert found["blocksort:ab#2"] == {}


def test_counters_of_trodden_are_edges() -> None:
    unit = unit_of(function("f", "a>b a>c b>exit c>exit"))
    profile = profile_of(unit, {"f": {"a>b": 9, "a>c": 1, "b>exit": 9, "c>exit": 1}})
    ((name, counts),) = of_profile(profile).items()
    assert name.endswith(":f")
    assert sorted(counts.values()) == [1, 1, 9, 9, 10]


def test_only_functions_with_exact_counts_are_compared() -> None:
    runs = [{"f": {0: 5, 1: 5}, "g": {0: 1}}, {"f": {0: 5, 1: 5}, "g": {0: 2}}]
    exact = steady(runs)
    assert exact == {"f": {0: 5, 1: 5}}
    assert total(exact) == 10
    assert deviation(exact, {"f": {0: 4, 2: 3}, "g": {0: 9}}) == Deviation(wrong=1 + 5 + 3, of=10)
    assert deviation(exact, {}) == Deviation(wrong=10, of=10)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("divbwt:ss_mintrosort", True),
        ("encode:4711", True),
        (":collect", True),
        ("compress:can_collect", False),
        ("process:4711", False),
        (":sched_unlock", False),
    ],
)
def test_functions_that_compress_a_block_do_the_same_work_in_every_run(name: str, same: bool) -> None:
    assert (SAME_WORK["lbzip2"].search(name) is not None) is same


def test_every_program_with_threads_has_functions_that_do_the_same_work() -> None:
    about = {program.name for program in suite.SUITE if TABLE.covers(program)}
    assert about == set(SAME_WORK)


def _lost(*wrong: int) -> Figures:
    return {
        "lost/clang-ir": {
            "functions": 9,
            "of functions": 12,
            "counts": 1000,
            "of counts": 1001,
            "left out": [":drain", ":fill"],
            "rounds": [{"wrong": each, "of": 1000} for each in wrong],
        }
    }


def test_losses_are_shares_of_all_counts() -> None:
    figures = _lost(0, 20, 500)
    assert lost_share("clang-ir")(figures) == Spread(0.02, 0.0, 0.5)
    assert lost_most("clang-ir")(figures) == 500
    assert compared("clang-ir")(figures) == "99.900% (9 of 12, 2 unsteady)"
    assert [cell("edges")(figures) for cell in (lost_share, lost_most, compared)] == [None, None, None]
    assert from_least_to_most([]) is None


def test_the_page_explains_that_losses_in_unsteady_functions_are_not_seen() -> None:
    (section,) = [each for each in TABLE.sections if each.name == "compared"]
    assert "losses in either would not be seen here" in section.note


def test_a_small_loss_is_not_shown_as_none() -> None:
    assert PART(Spread(0.0, 0.0, 0.0)) == "0"
    assert PART(Spread(1e-6, 0.0, 0.25)) == "0.0001% (0 .. 25.0000%)"
    assert PART(0.5) == "50.0000%"


def test_lossy_builds_are_compared_with_exact_ones() -> None:
    assert LostCounts("clang-ir").configs == ("clang-ir", "clang-ir-atomic")
    assert LostCounts("gcc-arcs").configs == ("gcc-arcs", "gcc-arcs-atomic")
    assert LostCounts("edges").configs == ("edges",)
    assert LostCounts("gcc-arcs").tools == ("valgrind", "gcov-dump")
    assert LostCounts("clang-ir").exclusive


OWN_COUNTS = "step 10\nodd 4\nmain 1\n"


def test_profiles_are_compared_with_the_counts_of_the_program() -> None:
    shape = "a>b a>c b>exit c>exit"
    unit = unit_of(function("step", shape), function("main", "a>exit"))
    right = {"a>b": 4, "a>c": 6, "b>exit": 4, "c>exit": 6}
    profile = profile_of(unit, {"step": right, "main": {"a>exit": 1}})
    assert compare_own_counts(profile, OWN_COUNTS) == Deviation(wrong=0, of=21)
    lost = {"a>b": 3, "a>c": 6, "b>exit": 3, "c>exit": 6}
    assert compare_own_counts(
        profile_of(unit, {"step": lost, "main": {"a>exit": 1}}), OWN_COUNTS
    ) == Deviation(2, 21)
    other = unit_of(function("step", "a>exit"), function("main", "a>exit"))
    straight = profile_of(other, {"step": {"a>exit": 10}, "main": {"a>exit": 1}})
    with pytest.raises(
        BenchError, match="step: its first block was compiled with 1 successors; it should have 2"
    ):
        compare_own_counts(straight, OWN_COUNTS)


def test_plans_share_all_calls(tmp_path: Path) -> None:
    THREADS.ref.files(tmp_path)
    order, *threads = (tmp_path / "plan").read_text().splitlines()
    assert order == "together"
    assert sum(int(line.split()[0]) for line in threads) == 10**8
    assert [line.split()[1] for line in threads] == ["return", "exit", "return", "cancel"] * 2


def test_our_own_program_is_in_one_table() -> None:
    assert THREADS not in suite.SUITE
    assert [table.name for table in registry.tables() if table.covers(THREADS)] == ["threads"]


def test_only_our_own_program_counts_by_itself() -> None:
    (own,) = [section for section in TABLE.sections if section.name == "own-counts"]
    assert isinstance(own, Section)
    rows = own.rows({"lbzip2": {}, "threads": {"books/edges": [{"wrong": 0, "of": 21}] * 2}}, None)
    assert list(rows) == ["threads"]
    cells = {column.name: column.cell(rows["threads"]) for column in own.columns}
    assert cells == {"edges-wrong": 0, "edges-of": 42, "paths-wrong": None, "paths-of": None}
