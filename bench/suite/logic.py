"""Espresso, which finds small sums of products for functions of bits."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.suite.inputs import small as inputs
from bench.suite.model import Case, SuiteProgram
from bench.suite.recipes import compiled


def _sum_of_numbers(directory: Path) -> None:
    """What two numbers of four bits come to, as a table of all cases, some of which nobody cares about."""
    random = Random(111)
    rows = []
    for one in range(16):
        for other in range(16):
            outputs = "-----" if random.random() < 0.1 else f"{one + other:05b}"
            rows.append(f"{one:04b}{other:04b} {outputs}")
    (directory / "function.pla").write_text("\n".join([".i 8", ".o 5", ".p 256", *rows, ".e", ""]))


def _terms(directory: Path) -> None:
    inputs.random_pla(directory / "function.pla", Random(112), 500)


def _many_terms(directory: Path) -> None:
    inputs.random_pla(directory / "function.pla", Random(112), 2_000, 12, 6)


_RECIPE = compiled("espresso")

ESPRESSO = SuiteProgram(
    name="espresso",
    version=_RECIPE.version,
    about="minimises a logic function (it was in SPEC92)",
    recipe=_RECIPE,
    train=Case(
        ("@function.pla",),
        _sum_of_numbers,
        "3cb6aed5dac10863dd58a2b6adcf1c9c2018932dff19bce16298dde7035ec638",
    ),
    ref=Case(("@function.pla",), _terms, "95c4121118a5877fe13c3ec835915feb5ed4306b307d4608121716716224254a"),
    long=Case(
        ("@function.pla",), _many_terms, "b4b704022d2a8a6006c3e13f9432b887f590a147cd0d01db0f98d948c64a0b71"
    ),
)
