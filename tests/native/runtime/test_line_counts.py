"""Line counts of sources that gcov and llvm-cov have counted too (``bench/oracles/record_lines.py``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.oracles.record_lines import SOURCES, read_records
from tests.native.building import PROGRAMS, trodden
from trodden.profile.store.trod import load
from trodden.source.lines import line_counts

INLINED = """\
int square(int x)
{
    int r = x;
    r *= x;
    return r;
}
int never(int x)
{
    return x + 5;
}
int main(int argc, char **argv)
{
    return square(argc) + square(3) == 12;
}
"""

MAKES = """\
#include <stdexcept>
#include <string>
__attribute__((noinline)) static std::string make(int i)
{
    if (i < 0)
        throw std::invalid_argument("negative");
    return "item" + std::to_string(i);
}
int main()
{
    return make(3).size() == 0;
}
"""

NAMES = sorted(path.name for path in SOURCES.glob("*.c*"))


def _counts(directory: Path, source: Path, *options: str) -> dict[int, int]:
    trodden("run", "--quiet", "-o", "lines.trod", *options, source, "-w", cwd=directory)
    lines = line_counts(load(directory / "lines.trod"))[str(source)]
    assert all(line.exact for line in lines.values())
    return {number: int(line.count) for number, line in lines.items()}


def _recorded(source: Path, column: str) -> dict[int, int]:
    return {int(row["line"]): int(row[column]) for row in read_records(source) if row[column]}


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_record(tmp_path: Path, name: str) -> None:
    assert _counts(tmp_path, SOURCES / name, "-O0") == _recorded(SOURCES / name, "trodden")


@pytest.mark.parametrize("name", ["exceptions.cpp", "jumps.c"])
def test_the_early_stage_counts_the_same_of_an_optimised_program(tmp_path: Path, name: str) -> None:
    found = _counts(tmp_path, SOURCES / name, "--stage", "early", "-O2")
    recorded = _recorded(SOURCES / name, "trodden")
    ends = {number for number in found if number not in recorded}
    text = (SOURCES / name).read_text().splitlines()
    assert {text[number - 1] for number in ends} <= {"}"}
    assert {number: found.get(number) for number in recorded} == recorded


@pytest.mark.parametrize("name", NAMES)
def test_where_gcc_and_llvm_cov_agree_the_count_is_theirs(name: str) -> None:
    rows = [row for row in read_records(SOURCES / name) if row["gcc"] and row["gcc"] == row["regions"]]
    assert len(rows) >= 15
    assert {row["line"]: row["trodden"] for row in rows if not row["why"]} == {
        row["line"]: row["gcc"] for row in rows if not row["why"]
    }
    assert {row["why"] for row in rows} <= {"", "no code", "operand"}
    assert all(not row["trodden"] for row in rows if row["why"] == "no code")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("path_log_throw.cpp", (12, 16, 49, 68)),
        ("exact_jumps.c", (228, 229, 234, 235, 241, 243)),
        ("longjmp_switches.c", (85, 86)),
    ],
)
def test_copies_that_an_optimiser_makes_are_executions_and_parts_of_a_statement_are_none(
    tmp_path: Path, name: str, lines: tuple[int, ...]
) -> None:
    plain, optimised = (_counts(tmp_path, PROGRAMS / name, level) for level in ("-O0", "-O2"))
    assert {line: optimised[line] for line in lines} == {line: plain[line] for line in lines}


def _marks(text: str) -> dict[int, str]:
    """What ``annotate`` has in front of each line that it has anything in front of."""
    rows = [row for row in text.splitlines() if row[10:16].strip().isdigit()]
    return {int(row[10:16]): row[:9].strip() for row in rows if row[:9].strip()}


def test_clean_up_for_exceptions_does_not_mark_the_end_of_a_function_as_never_executed(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.cpp").write_text(MAKES)
    trodden("run", "--quiet", "-o", "a.trod", "a.cpp", "-O2", cwd=tmp_path)
    marks = _marks(trodden("annotate", "a.trod", "a.cpp", cwd=tmp_path).stdout)
    assert marks[7] == "1"
    assert 8 not in marks


def test_what_an_optimised_program_has_inlined_is_not_shown_as_never_executed(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(INLINED)
    (tmp_path / "data.c").write_text("int numbers[] = {1, 2};\n")
    trodden("run", "--quiet", "-o", "a.trod", "a.c", "data.c", "-O2", cwd=tmp_path)
    late = trodden("annotate", "a.trod", "a.c", cwd=tmp_path).stdout
    assert "--stage early" in late.splitlines()[1]
    marks = _marks(late)
    assert marks[5] == "?"
    assert "#####" not in {marks.get(line) for line in range(1, 7)}
    assert marks[7] == marks[9] == "#####"
    exported = trodden("export", "a.trod", "--format", "lcov", cwd=tmp_path).stdout
    assert "DA:5," not in exported
    assert "DA:9,0" in exported
    trodden("run", "--quiet", "-o", "b.trod", "--stage", "early", "a.c", "data.c", "-O2", cwd=tmp_path)
    early = _marks(trodden("annotate", "b.trod", "a.c", cwd=tmp_path).stdout)
    executed = {1: "2", 3: "2", 4: "2", 5: "2", 7: "#####", 9: "#####", 11: "1", 13: "1"}
    assert {line: mark for line, mark in early.items() if INLINED.splitlines()[line - 1] != "}"} == executed
