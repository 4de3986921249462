"""The example of the documentation, a small program of which many profiles are made and merged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from bench.suite.model import Case, SuiteProgram
from bench.suite.sources import SourceFiles
from bench.support.directories import PROJECT

_WORDS = ("path", "edge", "block", "chord", "tree", "loop", "branch", "probe", "x", "counter-flow")
_LONGEST = 400


def random_text(random: Random, longest: int = _LONGEST) -> str:
    """Words in random order, fewer than the given number."""
    return " ".join(random.choice(_WORDS) for _ in range(random.randrange(longest)))


def _text(seed: int, longest: int) -> Callable[[Path], None]:
    def write(directory: Path) -> None:
        (directory / "text").write_text(random_text(Random(seed), longest))

    return write


WORDFREQ = SuiteProgram(
    name="wordfreq",
    about="counts the words of a text",
    source=SourceFiles(name="wordfreq", version="ours", own=(str(PROJECT / "examples" / "wordfreq.c"),)),
    train=Case(
        ("@text",), _text(1, _LONGEST), "7ae5ea4fe4756c94497d49930313b3d12d5a13b34f62298726d6ad18a7cdbac1"
    ),
    ref=Case(
        ("@text",), _text(2, 40_000), "79bd1d888358b77bafe3e1cb76585523b696f6bc6e06e6ed5078dfa59bf2d7db"
    ),
    long=Case(
        ("@text",), _text(3, 10_000_000), "bbffde6d12ad1667f5f9177614114c611769d50392c06616c1e3d136dcfb599a"
    ),
)
