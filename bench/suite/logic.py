"""Espresso, which minimises two-level logic functions."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.suite.inputs import logic_functions
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.sources import SourceFiles
from bench.suite.workloads import scripted


def _workload(directory: Path) -> None:
    logic_functions.write(directory / "input", Random(11), 700)


def _adder(directory: Path) -> None:
    """The truth table of a four-bit adder, some rows of which are don't-cares."""
    random = Random(111)
    rows = []
    for one in range(16):
        for other in range(16):
            outputs = "-----" if random.random() < 0.1 else f"{one + other:05b}"
            rows.append(f"{one:04b}{other:04b} {outputs}")
    (directory / "function.pla").write_text("\n".join([".i 8", ".o 5", ".p 256", *rows, ".e", ""]))


def _terms(directory: Path) -> None:
    logic_functions.write(directory / "function.pla", Random(112), 500)


def _many_terms(directory: Path) -> None:
    logic_functions.write(directory / "function.pla", Random(112), 2_000, 12, 6)


_ESPRESSO = SourceFiles(
    name="espresso",
    version="in pyeda 0.29.0",
    archive=Archive(
        "pip",
        "pyeda==0.29.0",
        "pyeda-0.29.0.tar.gz",
        "efd4d3e548079ca059f44f9babb9bd67b332ec1762897324fcceb8da1d0f5fed",
    ),
    directory="pyeda-0.29.0/thirdparty/espresso/src",
    sources=("*.c",),
    flags=("-std=gnu89", "-Wno-incompatible-function-pointer-types"),
    libraries=("-lm",),
)

ESPRESSO = SuiteProgram(
    name="espresso",
    about="minimises a logic function (it was in SPEC92)",
    source=_ESPRESSO,
    workload=scripted("espresso", _workload),
    train=Case(
        ("@function.pla",),
        _adder,
        "3cb6aed5dac10863dd58a2b6adcf1c9c2018932dff19bce16298dde7035ec638",
    ),
    ref=Case(("@function.pla",), _terms, "95c4121118a5877fe13c3ec835915feb5ed4306b307d4608121716716224254a"),
    long=Case(
        ("@function.pla",), _many_terms, "b4b704022d2a8a6006c3e13f9432b887f590a147cd0d01db0f98d948c64a0b71"
    ),
)
