"""Programs with threads: what is known of those in the suite, and one of ours.

The threads of ours share one hot function, and it keeps books of what they do: eight threads, a hundred
million calls in all; half of the threads end by ``pthread_exit`` or by being cancelled.  It is no program of
the suite, for no real program does so little between two counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.figures.counters import Off
from bench.suite.model import Case, SuiteProgram
from bench.suite.programs import Sources
from bench.suite.recipes import Compiled
from bench.support.errors import BenchError
from trodden.profile.model import Profile

_HOT = "step"
_ENDS = ("return", "exit", "return", "cancel") * 2
_PLAN = "plan"

SAME_WORK: Mapping[str, re.Pattern[str]] = {
    "lbzip2": re.compile(
        "^(divbwt|encode|crctab):|^:(collect|divbwt|encode|encoder_init|generate_prefix_code|transmit)$"
    ),
}
"""The functions, as :mod:`bench.figures.counters` calls them, that do the same work in whatever order threads
meet: those that compress a block.  How often threads ask each other for work depends on that order.
"""


def _plan(calls: int) -> Callable[[Path], None]:
    """Writes a plan: so many calls of the hot function, shared by all threads, which run together."""

    def write(directory: Path) -> None:
        lines = ["together", *(f"{calls // len(_ENDS)} {end}" for end in _ENDS)]
        (directory / _PLAN).write_text("\n".join([*lines, ""]))

    return write


def _case(calls: int, sha256: str) -> Case:
    return Case((f"@{_PLAN}",), _plan(calls), sha256)


_REF = _case(10**8, "ea01f4f56b96213864bf1acdf8543254eb3570f2d6119f74050ea2d6b3e59a89")

THREADS = SuiteProgram(
    name="threads",
    version="ours",
    about="eight threads that share one hot function",
    recipe=Compiled(Sources(name="threads", version="ours", own=("threads.c",), libraries=("-pthread",))),
    train=_case(10**7, "06d9cc300deea2b0fcc980f5b52a6b1ac5e846bc43f52279a29b219596c92765"),
    ref=_REF,
    # It takes half a second as it is.
    long=_REF,
    threads=True,
)


def beside_books(profile: Profile, printed: str) -> Off:
    """Compare a profile with what the program says: entries of all functions, both ways of the hot one."""
    books = {name: int(count) for name, count in map(str.split, printed.splitlines())}
    odd = books.pop("odd")
    found = {name: int(function.entries) for name, function in profile.functions.items()}
    wrong = sum(abs(found.get(name, 0) - count) for name, count in books.items())
    hot = profile.functions[_HOT]
    ways = sorted(int(edge.count or 0) for edge in hot.edges if edge.src == hot.blocks[0].id)
    expected = sorted((odd, books[_HOT] - odd))
    if len(ways) != len(expected):
        raise BenchError(f"{_HOT} was compiled with {len(ways)} ways to go; it should have {len(expected)}")
    wrong += sum(abs(one - other) for one, other in zip(ways, expected, strict=True))
    return Off(wrong, sum(books.values()) + books[_HOT])
