"""A program in Rust: a library that parses JSON, counts words and sorts, and a program that uses it."""

from __future__ import annotations

from pathlib import Path

from bench.suite.model import Case, SuiteProgram
from bench.suite.sources import RustCrates


def _nothing(directory: Path) -> None:
    """It generates its input by itself; the argument says how many rounds."""


def _case(rounds: int, sha256: str) -> Case:
    return Case((str(rounds),), _nothing, sha256)


RUST = SuiteProgram(
    name="rust",
    about="parses JSON, counts words and sorts (Rust)",
    source=RustCrates(
        library="rust_engine.rs",
        program="rust_work.rs",
        flags=("--edition=2021", "-O", "-C", "codegen-units=1"),
    ),
    train=_case(100, ""),
    ref=_case(1_000, ""),
    long=_case(4_000, ""),
)
