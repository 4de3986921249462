"""What does a profile of a Rust program cost?  trodden's beside those that rustc itself offers.

The program is a library and what uses it, both built with ``-O``.  Instructions are those of the whole run by
callgrind, the writing of the profile at its end included; times are user and system times of runs that take
turns.  Every build has to put out the same as the plain one.  ``trodden off`` carries no probes: it tells
whether the optimiser that the code passes through is as good as rustc's.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.build.compile import carry_out, need, version_of
from bench.build.machine import description
from bench.run.callgrind import must_agree, runner
from bench.support.directories import DATA, WORK
from bench.support.errors import BenchError
from bench.support.statistics import added, middle, table
from trodden.errors import TroddenError

_NAME = "rust"
_LIBRARY = DATA / "rust_engine.rs"
_PROGRAM = DATA / "rust_work.rs"
_FLAGS = ("--edition=2021", "-O", "-C", "codegen-units=1")
_TRODDEN = (sys.executable, "-m", "trodden", "rustc")
_COUNTED_ROUNDS = "1000"
_TIMED_ROUNDS = "4000"
_PLAIN = "rustc"
_WAYS: dict[str, tuple[str, ...]] = {
    _PLAIN: ("rustc",),
    "trodden off": (*_TRODDEN, "--trodden-profile=off"),
    "trodden edges": (*_TRODDEN, "--trodden-profile=edges"),
    "trodden paths": (*_TRODDEN, "--trodden-profile=paths"),
    "-C instrument-coverage": ("rustc", "-C", "instrument-coverage"),
    "-C profile-generate": ("rustc", "-C", "profile-generate", "-C", "llvm-args=-disable-vp"),
}


@dataclass
class Figures:
    """What was measured, by the name of the build."""

    instructions: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def rows(self) -> list[list[str]]:
        """A row for each build, beside the plain one."""
        plain = self.seconds[_PLAIN]
        rows = []
        for way, instructions in self.instructions.items():
            ratios = [seconds / base for seconds, base in zip(self.seconds[way], plain, strict=True)]
            median, low, high = middle(ratios)
            share = added(instructions / self.instructions[_PLAIN])
            spread = f"{added(median)} ({added(low)} .. {added(high)})"
            rows.append([way, f"{instructions / 1e6:,.1f}M", share, spread])
        return rows


def build(way: str) -> Path:
    """Build library and program in one of the ways."""
    home = WORK / "build" / _NAME / way.replace(" ", "-").strip("-")
    home.mkdir(parents=True, exist_ok=True)
    program = home / "work"
    command = [*_WAYS[way], *_FLAGS]
    carry_out([*command, "--crate-type", "rlib", str(_LIBRARY), "--out-dir", str(home)], home, way)
    carry_out([*command, "-L", str(home), str(_PROGRAM), "-o", str(program)], home, way)
    return program


def measure(rounds: int) -> Figures:
    """Build in all ways, count the instructions of each, and let them take turns for their times."""
    programs = {way: build(way) for way in _WAYS}
    figures = Figures()
    runs = {}
    for way, program in programs.items():
        place = runner(_NAME, program.parent.name)
        figures.instructions[way], runs[way] = place.instructions([str(program), _COUNTED_ROUNDS])
        figures.seconds[way] = []
    must_agree(_NAME, runs)
    for _ in range(rounds):
        runs = {}
        for way, program in programs.items():
            runs[way] = runner(_NAME, program.parent.name).run([str(program), _TIMED_ROUNDS])
            figures.seconds[way].append(runs[way].seconds)
        must_agree(_NAME, runs)
    return figures


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="how often each build is timed")
    arguments = parser.parse_args(argv)
    need(("rustc", "valgrind"))
    figures = measure(arguments.rounds)
    print(table(("build", "instructions", "added", "added time"), figures.rows()))
    WORK.mkdir(parents=True, exist_ok=True)
    found = {"instructions": figures.instructions, "seconds": figures.seconds}
    about = {"machine": description() | {"rustc": version_of("rustc")}, "rust": found}
    (WORK / "rust.json").write_text(json.dumps(about, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, TroddenError) as error:
        sys.exit(f"bench: {error}")
