"""How fast traces are read, and how much memory that takes."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import TRACE_ENCODINGS, label_of, trace_config
from bench.figures.trace_reading import TraceReading
from bench.tables.layout.cells import picked
from bench.tables.layout.means import GEOMETRIC
from bench.tables.layout.model import Column, Section, Table
from bench.tables.layout.values import BYTES, COUNT, SECONDS, Format

_CONFIGS = tuple(map(trace_config, TRACE_ENCODINGS))
_READING = {config: TraceReading(config) for config in _CONFIGS}


def _columns(what: str, form: Format) -> tuple[Column, ...]:
    found = {config: partial(picked, _READING[config]) for config in _CONFIGS}
    return tuple(
        Column(config, label_of(config), found[config](what), form, (GEOMETRIC,)) for config in _CONFIGS
    )


TABLE = Table(
    name="trace-reading",
    title="Reading traces",
    description=(
        "The trace of a run on the input *long* is read from a .trod file in a process of its own: every "
        "block is regenerated as an event, on one core. For the middle, another process opens the file and "
        "regenerates a thousand events from the middle of the longest thread on; that takes as long as "
        "starting Python and reading the index of the file, however long the trace is."
    ),
    measures=tuple(_READING.values()),
    sections=(
        Section(
            "speed", "Blocks regenerated in a second of processor time", _columns("blocks a second", COUNT)
        ),
        Section("peak", "Peak memory of the process", _columns("peak", BYTES)),
        Section("middle", "Elapsed time until the middle is regenerated", _columns("middle", SECONDS)),
        Section(
            "read",
            "What was read",
            (
                Column("blocks", "blocks", picked(_READING[_CONFIGS[0]], "blocks"), COUNT),
                *(
                    Column(config, label_of(config), picked(_READING[config], "bytes"), BYTES)
                    for config in _CONFIGS
                ),
            ),
        ),
    ),
)
