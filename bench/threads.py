"""Do threads lose counts, and what does it cost that they do not?  Eight of them share one hot function.

A hundred million calls in all; half of the threads end by ``pthread_exit`` or by being cancelled.  The
program keeps books of its own, which trodden's profiles are compared with.  Of clang's profiles the counters
are compared with those of the same build when its threads run one after the other.  Times are user and system
times of runs that take turns, instructions are callgrind's on a tenth of the calls.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from bench.builds import CLANG, Way, clang, need, trodden
from bench.errors import BenchError
from bench.gcov import called
from bench.llvmcov import LLVM_PROFDATA
from bench.machine import description
from bench.programs import RESULTS, Program
from bench.running import Runner, must_agree, remarks, runner
from bench.series import Series
from bench.tables import added, middle, table
from trodden.errors import TroddenError
from trodden.profile.collect import collect

_HOT = "step"
_ENDS = ("return", "exit", "return", "cancel") * 2
_PLAIN = clang("clang", "-O2")
_EDGES = trodden("trodden", "-O2")
_PATHS = trodden("paths", "-O2", "--trodden-profile=paths")
_PGO = ("-O2", "-fprofile-generate", "-mllvm", "-disable-vp")
_RACING = clang("clang-ir", *_PGO)
_ATOMIC = clang("clang-ir-atomic", *_PGO, "-fprofile-update=atomic")
_SHOWN = {
    _EDGES: "trodden, edges",
    _PATHS: "trodden, paths",
    _RACING: "clang -fprofile-generate",
    _ATOMIC: "the same, -fprofile-update=atomic",
}
_FUNCTION = re.compile(r"^  (?:.*;)?(\w+):$")
_COUNTERS = re.compile(r"^    Block counts: \[(.*)\]$")


@dataclass(frozen=True)
class Off:
    """Counts that are wrong: in the hot function, of so many there, and in all other functions together."""

    hot: int
    of: int
    elsewhere: int


@dataclass
class Measured:
    """All builds: their instructions, and round by round their times and what their profiles have wrong."""

    small: Series
    seconds: dict[str, list[float]] = field(default_factory=dict)
    off: dict[str, list[Off]] = field(default_factory=dict)

    def ratios(self, way: Way) -> list[float]:
        """Time beside that of the plain build, round by round."""
        pairs = zip(self.seconds[way.name], self.seconds[_PLAIN.name], strict=True)
        return [one / other for one, other in pairs if other > 0]

    def as_json(self) -> dict[str, Any]:
        """For the file of results."""
        return {
            "instructions": self.small.instructions,
            "seconds": self.seconds,
            "off": {name: [asdict(each) for each in found] for name, found in self.off.items()},
        }


def _program(name: str, calls: int, order: str = "together") -> Program:
    """The program on a plan: so many calls of the hot function, shared by all threads."""
    lines = [order, *(f"{calls // len(_ENDS)} {end}" for end in _ENDS)]

    def plan(path: Path) -> None:
        path.write_text("\n".join([*lines, ""]))

    return Program(name, "ours", plan, own=("threads.c",), libraries=("-pthread",))


def measure(calls: int, rounds: int) -> Measured:
    """Build in all ways, count instructions, then let the builds take turns."""
    ways = (_PLAIN, *_SHOWN)
    small = Series.of(_program("threads-small", calls // 10))
    large = Series.of(_program("threads", calls))
    in_turn = Series.of(_program("threads-in-turn", calls, "in-turn"))
    for way in ways:
        small.add(way)
        large.add(way)
    for way in (_RACING, _ATOMIC):
        in_turn.add(way)
    small.count_instructions()
    exact = {way: _counters(runner(in_turn.program.name, way.name)) for way in (_RACING, _ATOMIC)}
    measured = Measured(small)
    for _ in range(rounds):
        for way in ways:
            here = runner(large.program.name, way.name)
            ran = here.run(large.commands[way.name])
            must_agree(large.program.name, {_PLAIN.name: large.runs[_PLAIN.name], way.name: ran})
            measured.seconds.setdefault(way.name, []).append(ran.seconds)
            if way.trodden:
                measured.off.setdefault(way.name, []).append(_beside_books(here))
            elif way in exact:
                measured.off.setdefault(way.name, []).append(_beside(exact[way], _counters(here)))
    return measured


def _beside_books(here: Runner) -> Off:
    """Compare a profile with what the program says: entries of all functions, both ways of the hot one."""
    told = (line.split() for line in (here.directory / "stdout").read_text().splitlines())
    books = {name: int(count) for name, count in told}
    odd = books.pop("odd")
    profile = collect([here.raw])
    remarks("threads", profile)
    found = {name: int(function.entries) for name, function in profile.functions.items()}
    hot = profile.functions[_HOT]
    ways = sorted(int(edge.count or 0) for edge in hot.edges if edge.src == hot.blocks[0].id)
    expected = sorted((odd, books[_HOT] - odd))
    if len(ways) != len(expected):
        raise BenchError(f"{_HOT} was compiled with {len(ways)} ways to go; it should have {len(expected)}")
    wrong = abs(found[_HOT] - books[_HOT]) + _distance(ways, expected)
    others = [name for name in books if name != _HOT]
    elsewhere = sum(abs(found.get(name, 0) - books[name]) for name in others)
    return Off(wrong, 2 * books[_HOT], elsewhere)


def _beside(exact: Mapping[str, Sequence[int]], found: Mapping[str, Sequence[int]]) -> Off:
    """Compare clang's counters with those of a run without races, in which only ``main`` goes other ways."""
    wrong = Counter({name: _distance(exact[name], found[name]) for name in exact if name != "main"})
    hot = wrong.pop(_HOT)
    return Off(hot, sum(exact[_HOT]), wrong.total())


def _distance(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def _counters(here: Runner) -> dict[str, list[int]]:
    """All counters that clang's profile holds, by function."""
    command = [LLVM_PROFDATA, "show", "--counts", "--all-functions", str(here.profraw)]
    counters: dict[str, list[int]] = {}
    name = ""
    for line in called(command, here.directory).splitlines():
        if (function := _FUNCTION.match(line)) is not None:
            name = function.group(1)
        elif (found := _COUNTERS.match(line)) is not None:
            counters[name] = [int(each) for each in found.group(1).split(",")]
    if _HOT not in counters:
        raise BenchError(f"{LLVM_PROFDATA} says nothing of {_HOT} in {here.profraw}")
    return counters


def cost_table(measured: Measured) -> str:
    """Added instructions and time, the quartiles in brackets."""
    rows = []
    for way, shown in _SHOWN.items():
        median, low, high = middle(measured.ratios(way))
        instructions = added(measured.small.instruction_ratio(way.name, _PLAIN.name))
        rows.append([shown, instructions, f"{added(median)} ({added(low)} .. {added(high)})"])
    return table(("threads: added", "instructions", "time"), rows)


def loss_table(measured: Measured) -> str:
    """Counts that are wrong, over all rounds."""
    rows = []
    for way, shown in _SHOWN.items():
        found = measured.off[way.name]
        hot = sorted(each.hot for each in found)
        share = sum(hot) / sum(each.of for each in found)
        spread = f"{hot[0]:,} .. {hot[-1]:,}"
        elsewhere = max(each.elsewhere for each in found)
        rows.append([shown, f"{found[0].of:,}", spread, f"{100 * share:.4f}%", f"{elsewhere:,}"])
    head = ("threads: counts", "in the hot function", "of these wrong", "share", "wrong elsewhere")
    return table(head, rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; the status tells whether trodden's counts were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10**8, help="of the hot function (default 100,000,000)")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each build (default 9)")
    parser.add_argument("--json", type=Path, default=RESULTS / "threads.json", metavar="OUT")
    arguments = parser.parse_args(argv)
    try:
        need([CLANG, "valgrind", LLVM_PROFDATA])
        measured = measure(arguments.calls, max(arguments.rounds, 1))
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(cost_table(measured), end="\n\n")
    print(loss_table(measured))
    result = {"machine": description(), "threads": measured.as_json()}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    ours = [each for way in (_EDGES, _PATHS) for each in measured.off[way.name]]
    return 1 if any(each.hot or each.elsewhere for each in ours) else 0


if __name__ == "__main__":
    sys.exit(main())
