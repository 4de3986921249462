"""Sanitizers, coverage and profile-guided optimisation of a system's clang, beside trodden."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from recipes.clang import clang
from tests.native.building import TRODDEN, environment, must, trodden
from trodden.profile.store.trod import load

PROGRAM = Path(__file__).parent / "programs" / "sanitized.c"
OUTPUT = "signal\n3 45 ran\n"


def _build(directory: Path, *flags: str) -> None:
    must("cc", f"--trodden-toolchain={clang()}", *flags, str(PROGRAM), "-o", "program", cwd=directory)


def _check(directory: Path) -> None:
    assert must("run", "-q", "./program", cwd=directory) == OUTPUT
    profile = load(directory / "trodden.trod")
    entries = {name: profile.functions[name].entries for name in ("main", "descend", "handle", "work")}
    assert entries == {"main": 1, "descend": 18, "handle": 1, "work": 1}
    assert not any(function.violations for function in profile.functions.values())
    assert len(profile.processes) == 2
    shown = must("coverage", "--format", "tsv", "trodden.trod", cwd=directory)
    assert "descend" in shown
    assert "module_ctor" not in shown
    assert "__llvm_" not in shown


@pytest.mark.parametrize(
    "sanitizer", ["undefined", "address", "thread", "leak", "memory", "address,undefined"]
)
def test_a_sanitizer(tmp_path: Path, sanitizer: str) -> None:
    _build(tmp_path, f"-fsanitize={sanitizer}")
    _check(tmp_path)


def test_the_embedded_toolchains_sanitizer_of_threads(tmp_path: Path) -> None:
    """It builds its runtime for the first use, which takes minutes: too long for the time limit of a test."""
    command = [*TRODDEN, "cc", "-fsanitize=thread", str(PROGRAM), "-o", "program"]
    assert subprocess.run(command, cwd=tmp_path, env=environment(), check=False).returncode == 0
    _check(tmp_path)


def test_a_report_of_the_sanitizer_keeps_the_profile(tmp_path: Path) -> None:
    _build(tmp_path, "-fsanitize=address", "-g")
    done = trodden("run", "-q", "./program", "much", cwd=tmp_path)
    assert done.returncode == 1
    assert "heap-use-after-free" in done.stderr
    assert load(tmp_path / "trodden.trod").functions["descend"].entries == 18


@pytest.mark.parametrize(
    ("flags", "file"),
    [
        (["--coverage"], "program-sanitized.gcda"),
        (["-fprofile-instr-generate", "-fcoverage-mapping"], "default.profraw"),
        (["-fprofile-generate"], "default_*.profraw"),
    ],
    ids=["gcov", "source-based", "IR"],
)
def test_counts_of_the_compiler_beside_ours(tmp_path: Path, flags: list[str], file: str) -> None:
    _build(tmp_path, *flags)
    _check(tmp_path)
    assert list(tmp_path.glob(file))
