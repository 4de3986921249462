"""What do the choices about path profiles cost?  Where paths are cut, cycles, context, last paths, memory.

    python -m bench.paths [--only PART] [--program NAME] [--rounds N] [--no-time] [--json OUT]

Everything is built with ``-O2``, file by file, and has to put out the same as the plain build.  Instructions
are those of the whole run by callgrind, the writing of the profile at its end included; times are user and
system times of runs that take turns.  What paths cost beside edges is a table of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import memory, path_choices, path_lasts
from bench.builds import CLANG, need
from bench.errors import BenchError
from bench.machine import description
from bench.programs import LOOSE, Program, chosen
from trodden.errors import TroddenError

_PROGRAMS = ("bzip2", "lua", "espresso")
_PARTS = ("cutting", "options", "last", "memory")


def _cutting(programs: Sequence[Program], rounds: int) -> dict[str, Any]:
    found = [path_choices.measure(program, list(path_choices.CUTTING.values())) for program in programs]
    print(path_choices.cutting_table(found), end="\n\n")
    return {each.series.program.name: each.as_json() for each in found}


def _options(programs: Sequence[Program], rounds: int) -> dict[str, Any]:
    ways = list(path_choices.OPTIONS.values())
    found = [path_choices.measure(program, ways, rounds) for program in programs]
    print(path_choices.option_table(found), end="\n\n")
    return {each.series.program.name: each.as_json() for each in found}


def _last(programs: Sequence[Program], rounds: int) -> dict[str, Any]:
    found = [path_lasts.measure_lasts(program, rounds) for program in programs]
    print(path_lasts.lasts_table(found), end="\n\n")
    return {each.series.program.name: each.as_json() for each in found}


def _memory(programs: Sequence[Program], rounds: int) -> dict[str, Any]:
    found = memory.measure()
    print(memory.memory_table(found), end="\n\n")
    if not memory.within_bounds(found):
        raise BenchError(f"the tables take more than {memory.MOST // 1048576} MiB")
    return memory.as_json(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = ", ".join(_PROGRAMS)
    parser.add_argument("--program", action="append", default=[], metavar="NAME", help=f"instead of {names}")
    parser.add_argument("--only", action="append", default=[], choices=_PARTS, help="measure only this")
    parser.add_argument("--rounds", type=int, default=9, help="timed runs of each build (default 9)")
    parser.add_argument("--no-time", action="store_true", help="count instructions only")
    parser.add_argument("--json", type=Path, default=LOOSE / "paths.json", metavar="OUT")
    arguments = parser.parse_args(argv)
    measures = dict(zip(_PARTS, (_cutting, _options, _last, _memory), strict=True))
    result: dict[str, Any] = {"machine": description()}
    try:
        need([CLANG, "valgrind"])
        programs = chosen(arguments.program or _PROGRAMS)
        for part in arguments.only or _PARTS:
            result[part] = measures[part](programs, 0 if arguments.no_time else arguments.rounds)
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
