"""Two-level logic functions in the format of espresso."""

from __future__ import annotations

from pathlib import Path
from random import Random


def write(path: Path, random: Random, terms: int, inputs: int = 10, outputs: int = 4) -> None:
    """A random function of so many terms.

    Few inputs of a term are left open and few outputs are set: otherwise the function would soon be true
    everywhere.
    """
    rows = [
        "".join(random.choices("01-", (4, 4, 1), k=inputs))
        + " "
        + "".join(random.choices("01", (3, 1), k=outputs))
        for _ in range(terms)
    ]
    path.write_text("\n".join([f".i {inputs}", f".o {outputs}", f".p {terms}", *rows, ".e", ""]))
