"""The memory and time of merging many profiles."""

from __future__ import annotations

from bench.figures.merging import DAMAGED, FEW, RUNS, Merging
from bench.measures.model import Json
from bench.suite.wordfreq import WORDFREQ
from bench.tables.layout.cells import under
from bench.tables.layout.model import Column, Programs, Section, Table
from bench.tables.layout.values import BYTES, COUNT, SECONDS

_MERGING = Merging()


def _by_merge(programs: Programs, overall: Json) -> Programs:
    """One row a merge."""
    merges = (programs.get(WORDFREQ.name) or {}).get(_MERGING.key) or []
    return {f"{each['profiles']:,}": each for each in merges}


TABLE = Table(
    name="merge",
    title="Merging profiles",
    description=(
        f"The example program runs {RUNS:,} times on random texts, and {DAMAGED} profiles are damaged. "
        f"First {FEW} of them and then all are merged in one process. The result is compared with the sum of "
        "all intact profiles, every damaged profile must be named, and the measurement fails if memory grows "
        "with the number of profiles."
    ),
    measures=(_MERGING,),
    sections=(
        Section(
            "merge",
            "Memory and time",
            (
                Column("damaged", "damaged, named and left out", under("damaged"), COUNT),
                Column("peak", "peak memory", under("peak"), BYTES),
                Column("seconds", "processor time", under("seconds"), SECONDS),
            ),
            "The processor time includes the start of the process; other processes ran at the same time.",
            rows=_by_merge,
            first="profiles",
        ),
    ),
    programs=lambda program: False,
    extra_programs=(WORDFREQ,),
)
