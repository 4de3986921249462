"""A server: its profile however it ends, and its throughput under load."""

from __future__ import annotations

from bench.build.configurations import baseline_of, label_of
from bench.figures.server_ends import ENDS, ServerEnd
from bench.figures.server_load import ServerLoad
from bench.measures.model import Figures, Json
from bench.suite.redis import REDIS
from bench.tables.layout.cells import under
from bench.tables.layout.means import Cell
from bench.tables.layout.model import Column, Programs, Section, Table
from bench.tables.layout.values import ADDED, COUNT, TEXT, Spread, Value

_OURS = ("edges", "paths")
_LOADED = (*_OURS, "clang-ir")
_ENDS = {f"{label_of(config)}, {end}": ServerEnd(config, end) for config in _OURS for end in ENDS}
_LOAD = ServerLoad(_LOADED)
_RATE, _COST = 0, 1


def _by_end(programs: Programs, overall: Json) -> Programs:
    """One row for each configuration and end."""
    figures = programs.get(REDIS.name) or {}
    return {label: figures[each.key] for label, each in _ENDS.items() if each.key in figures}


def _processes(row: Figures) -> Value | None:
    return ", ".join(sorted(each["role"] for each in row["processes"]))


def _violations(row: Figures) -> Value | None:
    return sum(len(each["violations"]) for each in row["processes"])


def _right(row: Figures) -> Value | None:
    """Commands whose counts equal those of the server; none if they are not known."""
    pairs = row["commands"].values()
    return f"{sum(one == other for one, other in pairs)} of {len(pairs)}" if pairs else None


def _ratio(config: str, which: int) -> Cell:
    """The throughput or the cost of a request, divided by that of the baseline in the same round."""

    def cell(figures: Figures) -> Value | None:
        rounds = figures.get(_LOAD.key) or []
        baseline = baseline_of(config)
        both = [each for each in rounds if config in each and baseline in each]
        found = [each[config][which] / each[baseline][which] for each in both]
        return Spread.of(found) if found else None

    return cell


TABLE = Table(
    name="server",
    title="A server",
    description=(
        "Redis, built by its own Makefile. What a fixed list of commands costs in instructions, time and "
        "memory is in the first table."
    ),
    measures=(*_ENDS.values(), _LOAD),
    sections=(
        Section(
            "ends",
            "The profile after each end of the server",
            (
                Column("status", "status", under("status"), COUNT),
                Column("processes", "processes with a profile", _processes, TEXT),
                Column("violations", "violations of the flow law", _violations, COUNT),
                Column("commands", "commands counted right", _right, TEXT),
            ),
            "Servers that have used all their threads and child processes under load end by SIGKILL, idle or "
            "with requests in flight, by a regular shutdown, and by Redis' own crash commands. The counts of "
            "each command's function are compared with the statistics of the server itself, which are not "
            "known when it is killed under load. The measurement fails if anything is wrong.",
            rows=_by_end,
            first="end",
        ),
        Section(
            "load",
            "Throughput and processor time under load",
            (
                *(
                    Column(f"{config}-rate", f"{label_of(config)}: throughput", _ratio(config, _RATE), ADDED)
                    for config in _LOADED
                ),
                *(
                    Column(
                        f"{config}-cost", f"{label_of(config)}: time a request", _ratio(config, _COST), ADDED
                    )
                    for config in _LOADED
                ),
            ),
            "By redis-benchmark over the loopback device, with one thread for all requests: the median of "
            "the rounds, and in brackets their quartiles.",
        ),
    ),
    programs=lambda program: program.name == REDIS.name,
)
