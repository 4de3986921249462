"""Record what gcov and llvm-cov say of the sources in ``tests/cases/line_counts``.

``python -m bench.oracles.record_lines`` compiles and runs each source with the three tools, and rewrites the
columns of its ``.tsv`` that are theirs.  The column of trodden is for people to fill in: it is what a test
expects.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.oracles.gcov import GCOV, LLVM_COV, from_intermediate, from_json
from bench.oracles.llvm_cov import LLVM_PROFDATA, from_tracefile

SOURCES = Path(__file__).parents[2] / "tests" / "cases" / "line_counts"
COLUMNS = ("line", "trodden", "clang", "gcc", "regions", "why")
_CLANG = {".c": "clang-22", ".cpp": "clang++-22"}
_GCC = {".c": "gcc", ".cpp": "g++"}
_COVERAGE = ("-O0", "-w", "-g", "--coverage")
_REGIONS = ("-O0", "-w", "-fprofile-instr-generate", "-fcoverage-mapping")


def main() -> None:
    """Rewrite all records."""
    for source in sorted(SOURCES.glob("*.c*")):
        counts = {"clang": _clang(source), "gcc": _gcc(source), "regions": _regions(source)}
        _write(source, counts)


def read_records(source: Path) -> list[dict[str, str]]:
    """The record of a source: a row for each line that any tool knows."""
    with source.with_suffix(".tsv").open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def _write(source: Path, counts: Mapping[str, Mapping[int, int]]) -> None:
    record = source.with_suffix(".tsv")
    before = {int(row["line"]): row for row in read_records(source)} if record.exists() else {}
    lines = sorted({*before, *(line for each in counts.values() for line in each)})
    with record.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for line in lines:
            known = before.get(line, {})
            tools = {tool: each.get(line, "") for tool, each in counts.items()}
            kept = {"trodden": known.get("trodden", ""), "why": known.get("why", "")}
            writer.writerow({"line": line, **kept, **tools})


def _clang(source: Path) -> Mapping[int, int]:
    with tempfile.TemporaryDirectory() as name:
        data = _run(source, Path(name), [_CLANG[source.suffix], *_COVERAGE])
        _call([LLVM_COV, "gcov", "-i", data.name], Path(name))
        text = Path(name, f"{data.name}.gcov").read_text(errors="replace")
        return from_intermediate(text.splitlines(), Path(name)).get(str(Path(name, source.name)), {})


def _gcc(source: Path) -> Mapping[int, int]:
    with tempfile.TemporaryDirectory() as name:
        data = _run(source, Path(name), [_GCC[source.suffix], *_COVERAGE])
        output = _call([GCOV, "--json-format", "--stdout", data.name], Path(name))
        return from_json(json.loads(output), Path(name)).get(str(Path(name, source.name)), {})


def _regions(source: Path) -> Mapping[int, int]:
    with tempfile.TemporaryDirectory() as name:
        _run(source, Path(name), [_CLANG[source.suffix], *_REGIONS])
        _call([LLVM_PROFDATA, "merge", "default.profraw", "-o", "merged"], Path(name))
        output = _call([LLVM_COV, "export", "--format=lcov", "--instr-profile=merged", "a.out"], Path(name))
        return from_tracefile(output.splitlines()).get(str(Path(name, source.name)), {})


def _run(source: Path, directory: Path, compiler: list[str]) -> Path:
    """Compile and run a copy of a source; the data file of gcov, if there is one."""
    shutil.copy(source, directory)
    _call([*compiler, source.name], directory)
    subprocess.run(["./a.out"], cwd=directory, check=False)
    return next(directory.glob("*.gcda"), directory)


def _call(command: list[str], directory: Path) -> str:
    done = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    main()
