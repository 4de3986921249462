"""What a trace costs, and how large it is: trodden's encodings, and a rival that records every edge."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.build.configurations import (
    RECORDED,
    TRACE_ENCODINGS,
    checked_trace_config,
    label_of,
    trace_config,
    with_baselines,
)
from bench.figures.branches import branch_figures
from bench.figures.straw_men import StrawMen
from bench.figures.trace_agreement import TraceAgreement
from bench.measures.instructions import Instructions
from bench.measures.model import Figures
from bench.measures.profiled import Profiled
from bench.measures.times import Times
from bench.measures.trace_size import TraceSize
from bench.papers import bl94
from bench.tables.layout.cells import picked, quotient
from bench.tables.layout.means import GEOMETRIC, Cell
from bench.tables.layout.model import Column, Plot, Section, Table
from bench.tables.layout.ratios import elapsed_ratio, instruction_ratio, time_ratio
from bench.tables.layout.values import ADDED, BYTES, COUNT, FACTOR, FINE, Value, number_of

_OURS = tuple(map(trace_config, TRACE_ENCODINGS))
_CONFIGS = (*_OURS, RECORDED)
_WITNESSES, _BITS = trace_config("witnesses"), trace_config("bits")

_SIZES = {config: TraceSize(config) for config in _CONFIGS}
_AGREEMENT = {encoding: TraceAgreement(checked_trace_config(encoding)) for encoding in TRACE_ENCODINGS}
_BRANCHES = Profiled("edges", what="branches", compute=branch_figures)
_EXECUTED = picked(_BRANCHES, "branches")
_STRAW_MEN = StrawMen(_WITNESSES)


def _bits_a_branch(config: str, form: str) -> Cell:
    """Bits of a trace for each conditional branch that was executed."""
    size = quotient(picked(_SIZES[config], form), _EXECUTED)

    def cell(figures: Figures) -> Value | None:
        found = number_of(size(figures))
        return None if found is None else 8 * found

    return cell


def _added(ratio: object, config: str) -> Column:
    assert callable(ratio)
    return Column(config, label_of(config), partial(ratio, config=config), ADDED, (GEOMETRIC,))


def _bits(form: str) -> tuple[Column, ...]:
    return tuple(
        Column(config, label_of(config), _bits_a_branch(config, form), FINE, (GEOMETRIC,))
        for config in _CONFIGS
    )


def _compared(encoding: str) -> Iterator[Column]:
    """What the trace of an encoding says, compared with counters."""
    found = partial(picked, _AGREEMENT[encoding])
    yield Column(f"{encoding}-edges", f"{encoding}: edges compared", found("edges"), COUNT)
    yield Column(f"{encoding}-taken", "of these taken", found("taken"), COUNT)
    yield Column(f"{encoding}-wrong", "differ", found("differences"), COUNT)
    yield Column(f"{encoding}-paths-wrong", "by its paths", found("path differences"), COUNT)
    yield Column(f"{encoding}-damaged", "contradictions", found("damaged"), COUNT)


_PAPER = (
    f"{bl94.SOURCE} §6.2, Table 3, records data addresses as well, and compares its witnesses with a record "
    "of each conditional branch: "
    + "; ".join(
        f"{row.program} {row.old_trace / row.new_trace:.1f} times smaller, the run "
        f"{row.old_run / row.new_run:.1f} times as fast"
        for row in bl94.TABLE_3
    )
    + f". Bits made a trace {bl94.BITS_SMALLER} times smaller than a byte for each witness."
)

TABLE = Table(
    name="tracing",
    title="Traces",
    description=(
        "The whole sequence of blocks, in the three encodings of `--trace`, beside clang's trace-pc-guard, "
        "whose call at every edge appends the number of the edge to a buffer. Each writes a file in shared "
        f"memory. {_PAPER}"
    ),
    measures=(
        *(Instructions(config) for config in with_baselines(_CONFIGS)),
        Times(_CONFIGS),
        *_SIZES.values(),
        *_AGREEMENT.values(),
        _BRANCHES,
        _STRAW_MEN,
    ),
    sections=(
        Section(
            "instructions", "Added instructions", tuple(_added(instruction_ratio, each) for each in _CONFIGS)
        ),
        Section("time", "Added processor time", tuple(_added(time_ratio, each) for each in _CONFIGS)),
        Section("elapsed", "Added elapsed time", tuple(_added(elapsed_ratio, each) for each in _CONFIGS)),
        Section("bits", "Bits for each conditional branch, as the run writes them", _bits("raw")),
        Section(
            "compressed",
            "Bits for each conditional branch, compressed",
            _bits("compressed"),
            "zstd, in pieces of 256 KiB that are read one by one.",
        ),
        Section(
            "smaller",
            "How much smaller",
            (
                Column(
                    "guards",
                    "guards / paths",
                    quotient(picked(_SIZES[RECORDED], "raw"), picked(_SIZES[_OURS[0]], "raw")),
                    FACTOR,
                    (GEOMETRIC,),
                ),
                Column(
                    "bits",
                    "witnesses / bits",
                    quotient(picked(_SIZES[_WITNESSES], "raw"), picked(_SIZES[_BITS], "raw")),
                    FACTOR,
                    (GEOMETRIC,),
                ),
            ),
            "As the run writes them.",
        ),
        Section(
            "straw-men",
            "Blocks that record themselves, witnesses = 1",
            tuple(
                Column(
                    name,
                    label,
                    quotient(picked(_STRAW_MEN, name), picked(_STRAW_MEN, "witnesses")),
                    FACTOR,
                    (GEOMETRIC,),
                )
                for name, label in (("blocks", "every block"), ("targets", "targets of predicates"))
            ),
            "How many more records the same run would have written if every block recorded itself, or, as in "
            f"the version of AE that {bl94.SOURCE} improves on, every block that a predicate leads to. What "
            "is written at calls, for all of them, is not counted.",
        ),
        Section(
            "executed",
            "What was recorded",
            (
                Column("blocks", "blocks", picked(_BRANCHES, "blocks"), COUNT),
                Column("branches", "conditional branches", _EXECUTED, COUNT),
                *(
                    Column(config, label_of(config), picked(_SIZES[config], "raw"), BYTES)
                    for config in _CONFIGS
                ),
            ),
        ),
        Section(
            "agreement",
            "Traces compared with a counter on every edge",
            tuple(column for encoding in TRACE_ENCODINGS for column in _compared(encoding)),
            "With `--profile trace --counters checked` every edge has a counter in addition to the trace, in "
            "the same run. *Differ* are the edges that the trace takes more or less often than their "
            "counters say, *by its paths* those of which the path profile says so that follows from it, "
            "*contradictions* the places where its records cannot be read on.",
        ),
    ),
    plots=(Plot("time", "Processor time, plain build = 1", "time", _CONFIGS, "ratio", base=1.0),),
)
