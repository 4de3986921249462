"""What does a profile cost?  trodden's edge profile beside those of clang and gcc, on the same programs.

Everything is built with ``-O2``, file by file.  Instructions are those of the whole run by callgrind, the
writing of the profile at its end included; times are user and system times of runs that take turns.  Every
build has to put out the same as the plain one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from bench.builds import CLANG, clang, gcc, need, trodden
from bench.errors import BenchError
from bench.machine import description
from bench.placement import PAPER_REDUCTION, PAPER_SHARE, Placement, placement
from bench.programs import RESULTS, Program, chosen
from bench.series import Series
from bench.tables import added, geometric_mean, middle, table
from trodden.errors import TroddenError

_PLAIN = clang("clang", "-O2")
_TRODDEN = trodden("trodden", "-O2")
_IR_PGO = clang("clang-ir", "-O2", "-fprofile-generate", "-mllvm", "-disable-vp")
_FRONT_END = clang("clang-front", "-O2", "-fprofile-instr-generate")
_GCC = gcc("gcc", "-O2")
_ARCS = gcc("gcc-arcs", "-O2", "-fprofile-arcs")
_WAYS = (_PLAIN, _TRODDEN, _IR_PGO, _FRONT_END, _GCC, _ARCS)

# Each profile is compared with a plain build by the same compiler.
_PLAIN_OF = {
    _TRODDEN.name: _PLAIN.name,
    _IR_PGO.name: _PLAIN.name,
    _FRONT_END.name: _PLAIN.name,
    _ARCS.name: _GCC.name,
}
_SHOWN = {
    _TRODDEN.name: "trodden",
    _IR_PGO.name: "clang -fprofile-generate",
    _FRONT_END.name: "clang -fprofile-instr-generate",
    _ARCS.name: "gcc -fprofile-arcs",
}


@dataclass(frozen=True)
class Measured:
    """The figures of one program, by the name of the build."""

    series: Series
    placement: Placement

    @property
    def program(self) -> Program:
        """What was measured."""
        return self.series.program

    def instruction_ratio(self, way: str) -> float:
        """Instructions of a profiling build for each one of its plain build."""
        return self.series.instruction_ratio(way, _PLAIN_OF[way])

    def time_ratios(self, way: str) -> list[float]:
        """The time of a profiling build beside that of its plain build, round by round."""
        return self.series.time_ratios(way, _PLAIN_OF[way])

    def as_json(self) -> dict[str, Any]:
        """For the file of results."""
        return {
            "version": self.program.version,
            "placement": self.placement.as_json(),
            "instructions": self.series.instructions,
            "seconds": self.series.seconds,
        }


def measure(program: Program, rounds: int) -> Measured:
    """Build a program in all ways and measure each of them."""
    series = Series.of(program)
    for way in _WAYS:
        series.add(way)
    measured = Measured(series, placement(series.profile(_TRODDEN)))
    series.count_instructions()
    series.take_times(rounds)
    return measured


def instruction_table(all_measured: Sequence[Measured]) -> str:
    """Added instructions, a row a program, and the means."""
    ratios = [[each.instruction_ratio(name) for name in _SHOWN] for each in all_measured]
    rows = [
        [
            each.program.name,
            f"{each.series.instructions[_PLAIN.name] / 1e6:,.1f}M",
            *map(added, ratio),
            _beside(ratio[0], ratio[1]),
        ]
        for each, ratio in zip(all_measured, ratios, strict=True)
    ]
    rows.append(_mean_row(ratios, ""))
    return table(("added instructions", "plain", *_SHOWN.values(), "trodden / clang"), rows)


def time_table(all_measured: Sequence[Measured]) -> str:
    """Added time: the median of the rounds and, in brackets, the quartiles."""
    rows, ratios = [], []
    for each in all_measured:
        spread = [middle(each.time_ratios(name)) for name in _SHOWN]
        ratios.append([median for median, _, _ in spread])
        plain, _, _ = middle(each.series.seconds[_PLAIN.name])
        cells = [f"{added(median)} ({added(low)} .. {added(high)})" for median, low, high in spread]
        rows.append([each.program.name, f"{plain:.2f}s", *cells, _beside(ratios[-1][0], ratios[-1][1])])
    rows.append(_mean_row(ratios, ""))
    return table(("added time", "plain", *_SHOWN.values(), "trodden / clang"), rows)


def placement_table(all_measured: Sequence[Measured]) -> str:
    """BL94 §6.1: counters and increments, beside the paper's own figures."""
    rows = []
    for each in all_measured:
        found = each.placement
        rows.append(
            [
                each.program.name,
                str(found.functions),
                str(found.edges),
                str(found.counters),
                f"{100 * found.share:.1f}%",
                f"{found.redundant / 1e6:,.2f}M",
                f"{found.optimal / 1e6:,.2f}M",
                f"{found.trips / 1e6:,.2f}M",
                f"{found.reduction:.2f}x",
            ]
        )
    rows.append(["BL94, C programs", "", "", "", PAPER_SHARE, "", "", "", PAPER_REDUCTION])
    head = ("counters", "functions", "edges", "counters", "share", "every block", "chosen", "of these trips")
    return table((*head, "fewer"), rows)


def _mean_row(ratios: Sequence[Sequence[float]], plain: str) -> list[str]:
    means = [geometric_mean(column) for column in zip(*ratios, strict=True)]
    return ["geometric mean", plain, *map(added, means), _beside(means[0], means[1])]


def _beside(ours: float, theirs: float) -> str:
    """What we add for each part that the other adds."""
    return f"{(ours - 1) / (theirs - 1):.2f}" if theirs > 1 else "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", action="append", default=[], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=9, help="timed runs of each build (default 9)")
    parser.add_argument("--no-time", action="store_true", help="count instructions only")
    parser.add_argument("--json", type=Path, default=RESULTS / "overhead.json", metavar="OUT")
    arguments = parser.parse_args(argv)
    try:
        need([CLANG, "gcc", "g++", "valgrind"])
        found: list[Measured] = []
        for program in chosen(arguments.program):
            found.append(measure(program, 0 if arguments.no_time else arguments.rounds))
            print(f"{program.name} measured", file=sys.stderr)
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(instruction_table(found))
    if not arguments.no_time and arguments.rounds > 0:
        print()
        print(time_table(found))
    print()
    print(placement_table(found))
    result = {"machine": description(), "programs": {each.program.name: each.as_json() for each in found}}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
