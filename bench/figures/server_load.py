"""What does a profile cost a real server with threads, and what is left of it when the server is killed?

Redis is built from source by its own Makefile and driven by its own redis-benchmark over the loopback
device.  Throughput is that of builds that take turns, each time on a fresh server: once as it runs by
default, with one thread for all requests, once with threads for input and output.  Such threads spin while
they wait, so that with fewer processors than threads their throughput depends on the scheduler more than on
anything else, and processor time says nothing.  Then servers that have used all their threads and forked
children are ended in several ways, and what their profiles say is compared with what the server said of
itself before.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.build.compile import CLANG, clang, need, trodden
from bench.build.machine import description
from bench.build.redis import LOAD, VERSION, built
from bench.figures import server_ends
from bench.run.callgrind import callgrind, collected
from bench.run.redis_server import Load, Server
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.statistics import added, middle, table
from trodden.errors import TroddenError

_PLAIN = clang("clang")
_EDGES = trodden("trodden")
_PATHS = trodden("paths", "--trodden-profile=paths")
_PGO = clang("clang-ir", "-fprofile-generate", "-mllvm", "-disable-vp")
_SHOWN = {_EDGES: "trodden, edges", _PATHS: "trodden, paths", _PGO: "clang -fprofile-generate"}
_ALONE, _THREADED = "one thread", "threads for input and output"
_SETTINGS = {
    _ALONE: ("--io-threads", "1"),
    _THREADED: ("--io-threads", "3", "--io-threads-do-reads", "yes"),
}
_NOT_KEPT = ("--save", "", "--appendonly", "no")

# By setting, then by the name of the build, round by round.
Loads = dict[str, dict[str, list[Load]]]


def measure_loads(driver: Path, requests: Mapping[str, int], rounds: int) -> Loads:
    """Let the builds take turns under the load."""
    found: Loads = {setting: {} for setting in _SETTINGS}
    for _ in range(rounds):
        for setting, options in _SETTINGS.items():
            for way in (_PLAIN, *_SHOWN):
                place = WORK / "run" / "redis" / way.name
                with Server(built(way), place, [*options, *_NOT_KEPT]) as server:
                    loaded = server.load(driver, requests[setting])
                    server.shut_down()
                found[setting].setdefault(way.name, []).append(loaded)
    return found


def count_instructions(driver: Path, requests: int) -> dict[str, int]:
    """Instructions of a server under a small load, from its start to its end, by the name of the build.

    They do not repeat exactly: what a server does ten times a second depends on how long it runs.
    """
    found = {}
    for way in (_PLAIN, *_SHOWN):
        place = WORK / "run" / "redis" / f"{way.name}-callgrind"
        log = place.with_suffix(".log")
        options = [*_SETTINGS[_ALONE], *_NOT_KEPT]
        with Server(built(way), place, options, callgrind(log)) as server:
            server.load(driver, requests)
            server.shut_down()
        found[way.name] = collected(log)
    return found


def instruction_table(found: Mapping[str, int]) -> str:
    """Instructions beside those of the plain build."""
    plain = found[_PLAIN.name]
    rows = [[shown, added(found[way.name] / plain)] for way, shown in _SHOWN.items()]
    return table(("redis: added", f"to {plain / 1e6:,.0f}M instructions"), rows)


def load_table(found: Loads) -> str:
    """Throughput and processor time beside the plain build's: quartiles in brackets, and the best rounds."""
    rows = []
    for setting, loads in found.items():
        plain = loads[_PLAIN.name]
        cost, _, _ = middle([load.cost for load in plain])
        rate, _, _ = middle([load.rate for load in plain])
        spins = setting == _THREADED
        best = max(load.rate for load in plain)
        spent = "" if spins else f"{cost:.2f} us"
        rows.append([f"{setting}: plain", f"{rate:,.0f}/s", f"{best:,.0f}/s", spent])
        for way, shown in _SHOWN.items():
            ours = loads[way.name]
            spent = "" if spins else _ratio(ours, plain, lambda load: load.cost)
            fastest = added(max(load.rate for load in ours) / best)
            rows.append([f"{setting}: {shown}", _ratio(ours, plain, lambda load: load.rate), fastest, spent])
    return table(("redis", "throughput", "of the best round", "processor time a request"), rows)


def _ratio(ours: Sequence[Load], plain: Sequence[Load], figure: Callable[[Load], float]) -> str:
    ratios = [figure(one) / figure(other) for one, other in zip(ours, plain, strict=True)]
    median, low, high = middle(ratios)
    return f"{added(median)} ({added(low)} .. {added(high)})"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; the status tells whether every profile was complete and consistent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="servers of each build (default 7; 0 for none)")
    parser.add_argument("--requests", type=int, default=100_000, help="of each kind (default 100,000)")
    parser.add_argument("--end", action="append", default=[], metavar="HOW", help=", ".join(server_ends.ENDS))
    parser.add_argument("--json", type=Path, default=WORK / "server.json", metavar="OUT")
    arguments = parser.parse_args(argv)
    ended: dict[tuple[str, str], server_ends.Ended] = {}
    loads: Loads = {}
    instructions: dict[str, int] = {}
    try:
        need([CLANG, "make", "valgrind"])
        ends = server_ends.chosen(arguments.end)
        driver = built(_PLAIN, LOAD)
        if arguments.rounds > 0:
            # Threads that spin take ten times as long where processors are few.
            requests = {_ALONE: arguments.requests, _THREADED: arguments.requests // 10}
            loads = measure_loads(driver, requests, arguments.rounds)
            print(load_table(loads), end="\n\n")
            instructions = count_instructions(driver, arguments.requests // 50)
            print(instruction_table(instructions), end="\n\n")
        for end in ends:
            for way in (_EDGES, _PATHS):
                ended[_SHOWN[way], end] = server_ends.measure(way, driver, end)
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(server_ends.ends_table(ended))
    wrong = [line for (way, end), each in ended.items() for line in server_ends.check(f"{way}, {end}", each)]
    for line in wrong:
        print(line)
    result = {
        "machine": description(),
        "redis": VERSION,
        "loads": {
            setting: {name: [asdict(load) for load in series] for name, series in by_way.items()}
            for setting, by_way in loads.items()
        },
        "instructions": instructions,
        "ends": {f"{way}, {end}": each.as_json() for (way, end), each in ended.items()},
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
