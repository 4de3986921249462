"""The tables of path options, weights, merging, the server and Rust, from made-up figures."""

from __future__ import annotations

import pytest

from bench.figures.server_ends import Ended, Process
from bench.measures.model import Json
from bench.suite.redis import REDIS
from bench.suite.rust import RUST
from bench.suite.wordfreq import WORDFREQ
from bench.tables import merge, path_options, registry, rust, server, weights
from bench.tables.layout.grid import Grid, grid
from bench.tables.layout.model import Table
from bench.tables.layout.values import Spread

NEW = (path_options.TABLE, weights.TABLE, merge.TABLE, server.TABLE, rust.TABLE)


def _grid(table: Table, name: str, program: str, figures: dict[str, Json]) -> Grid:
    (section,) = [each for each in table.sections if each.name == name]
    return grid(section, {program: figures}, None)


@pytest.mark.parametrize("table", registry.tables(), ids=lambda table: table.name)
def test_names_are_unique_and_plots_name_columns(table: Table) -> None:
    columns = {section.name: [each.name for each in section.columns] for section in table.sections}
    assert len(columns) == len(table.sections)
    assert all(len(names) == len(set(names)) for names in columns.values())
    assert all(set(plot.series) <= set(columns[plot.section]) for plot in table.plots)


@pytest.mark.parametrize("table", NEW, ids=lambda table: table.name)
def test_nothing_is_shown_of_what_was_not_measured(table: Table) -> None:
    for section in table.sections:
        assert grid(section, {"redis": {}, "rust": {}, "wordfreq": {}, "lua": {}}, None).empty
        assert grid(section, {}, None).empty


def test_the_ring_of_last_paths_costs_so_much_for_each_completed_path() -> None:
    figures: dict[str, Json] = {
        "instructions/clang/ref": 1000,
        "instructions/paths/ref": 1100,
        "instructions/paths-last-64/ref": 1500,
        "profiled/paths-last-64/ref/increments": {"ended": 50},
        "instructions/edges/ref": 1050,
        "instructions/edges-call-paths/ref": 1260,
        "profiled/edges-call-paths/ref/call paths": {"calls": 10, "paths": 3},
    }
    (row,) = _grid(path_options.TABLE, "details", "lua", figures).measured
    assert row.values == {"ended": 50, "last": 8.0}
    (row,) = _grid(path_options.TABLE, "call-paths", "lua", figures).measured
    assert row.values == {"calls": 10, "paths": 3, "each": 21.0, "added": 1.2}
    (row,) = _grid(path_options.TABLE, "options", "lua", figures).measured
    assert row.values == {"paths": 1.1, "paths-last-64": 1.5}


def test_weights_are_compared_with_nesting() -> None:
    kinds = {"nesting": 200, "WL94": 210, "shipped": 190, "measured": 150}
    value = {"paths": {kind: {"increments": number, "register": 0} for kind, number in kinds.items()}}
    (row,) = _grid(weights.TABLE, "paths", "lua", {"weights": value}).measured
    assert row.values == {"nesting": 200, "WL94": 1.05, "shipped": 0.95, "measured": 0.75}


def test_every_merge_is_a_row() -> None:
    value = [
        {"profiles": 100, "damaged": 0, "seconds": 0.5, "peak": 20 << 20},
        {"profiles": 10_000, "damaged": 10, "seconds": 2.5, "peak": 21 << 20},
    ]
    assert _grid(merge.TABLE, "merge", WORDFREQ.name, {"merge/edges": value}).texts() == [
        ["100", "0", "20.0 MiB", "500.0 ms"],
        ["10,000", "10", "21.0 MiB", "2.50 s"],
    ]


def test_every_end_of_the_server_is_a_row() -> None:
    processes: list[Json] = [{"role": role, "violations": []} for role in ("server", "BGSAVE")]
    ended = {"status": -9, "processes": processes, "commands": {"get": [5, 5], "set": [7, 6]}}
    unknown = {**ended, "commands": {}}
    figures = {"server end/edges/kill": ended, "server end/paths/kill under load": unknown}
    assert _grid(server.TABLE, "ends", REDIS.name, figures).texts() == [
        ["trodden edges, kill", "-9", "BGSAVE, server", "0", "1 of 2"],
        ["trodden paths, kill under load", "-9", "BGSAVE, server", "0", "–"],
    ]


def test_what_is_wrong_with_an_ended_server() -> None:
    roles = ("server", "BGSAVE", "BGREWRITEAOF")
    processes = tuple(Process(role, 9, (), ()) for role in roles)
    assert Ended(0, processes, {"get": (5, 5)}).problems() == []
    broken = (Process("server", 9, ("f: 3 in, 4 out",), ()), *processes[1:])
    assert Ended(0, broken, {"get": (5, 4)}).problems() == [
        "get: 5 calls, 4 counted",
        "server: f: 3 in, 4 out",
    ]
    assert Ended(0, processes[:2], {}).problems() == ["processes that left a profile: server, BGSAVE"]


def test_throughput_is_compared_within_a_round() -> None:
    rounds = [{"clang": [100.0, 10.0], "edges": [90.0, 11.0]}, {"clang": [50.0, 10.0], "edges": [40.0, 13.0]}]
    (row,) = _grid(server.TABLE, "load", REDIS.name, {"server load": rounds}).measured
    rate, cost = row.values["edges-rate"], row.values["edges-cost"]
    assert isinstance(rate, Spread)
    assert isinstance(cost, Spread)
    assert (rate.median, cost.median) == pytest.approx((0.85, 1.2))


def test_configurations_of_rust_are_rows() -> None:
    figures = {
        "instructions/rustc/ref": 1000,
        "instructions/rust-edges/ref": 1030,
        "build/rustc": {"seconds": 2.0, "file": 100},
        "build/rust-edges": {"seconds": 5.0, "file": 300},
    }
    rows = {row[0]: row[1:] for row in _grid(rust.TABLE, "cost", RUST.name, figures).texts()}
    assert rows["trodden edges"] == ["0.00M", "+3.0%", "–", "2.50", "3.00"]
    assert rows["rustc"] == ["0.00M", "+0.0%", "–", "1.00", "1.00"]


def test_programs_of_single_tables_are_in_no_other() -> None:
    for program in (WORDFREQ, RUST):
        assert len([table.name for table in registry.tables() if table.covers(program)]) == 1
