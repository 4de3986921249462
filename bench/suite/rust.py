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
    train=_case(100, "5f924e18497469365b12669ed22ea6c965019869ebf996abd41ce460ccf0e15c"),
    ref=_case(1_000, "afa8f6e86ca8a3d84c5a958098b29b8f6882b7015eebf4d4654569aa8a20e923"),
    long=_case(4_000, "d4030eb3e60f1a5a834a719135b72ca2f7e11cb2351d93f9250273d1928c23ea"),
)
