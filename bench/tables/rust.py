"""The cost of profiles of a Rust program: trodden's compared with those of rustc."""

from __future__ import annotations

from bench.build.configurations import label_of, with_baselines
from bench.measures.build_cost import BuildCost
from bench.measures.instructions import Instructions
from bench.measures.model import Figures, Json
from bench.measures.times import Times
from bench.suite.rust import RUST
from bench.tables.layout.cells import under
from bench.tables.layout.model import Column, Programs, Section, Table
from bench.tables.layout.ratios import build_ratio, instruction_ratio, instructions, size_ratio, time_ratio
from bench.tables.layout.values import ADDED, FACTOR, MILLIONS

_CONFIGS = ("rust-off", "rust-edges", "rust-paths", "rust-coverage", "rust-generate")
_EVERY = with_baselines(_CONFIGS)


def _by_config(programs: Programs, overall: Json) -> Programs:
    """One row a configuration."""
    figures = programs.get(RUST.name)
    if figures is None:
        return {}
    return {label_of(config): _row(figures, config) for config in _EVERY}


def _row(figures: Figures, config: str) -> Figures:
    return {
        "instructions": instructions(figures, config),
        "added": instruction_ratio(figures, config),
        "time": time_ratio(figures, config),
        "build": build_ratio(figures, config),
        "file": size_ratio(figures, config, "file"),
    }


TABLE = Table(
    name="rust",
    title="Rust",
    description=(
        "A library that parses JSON, counts words and sorts, and a program that uses it, both compiled with "
        "`-O`. *No probes* is trodden's build without instrumentation: it shows whether the optimiser that "
        "trodden uses is as good as rustc's."
    ),
    measures=(
        *(Instructions(config) for config in _EVERY),
        *(BuildCost(config) for config in _EVERY),
        Times(_CONFIGS),
    ),
    sections=(
        Section(
            "cost",
            "Instructions, time, and builds",
            (
                Column("instructions", "instructions", under("instructions"), MILLIONS),
                Column("added", "added instructions", under("added"), ADDED),
                Column("time", "added time", under("time"), ADDED),
                Column("build", "build time", under("build"), FACTOR),
                Column("file", "executable file", under("file"), FACTOR),
            ),
            "Compared with rustc; build time and executable file are divided by those of rustc.",
            rows=_by_config,
            first="build",
        ),
    ),
    programs=lambda program: False,
    extra_programs=(RUST,),
)
