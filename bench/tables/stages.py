"""What it costs to count the source as it was written and the paths of the optimised program at once."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import label_of, with_baselines
from bench.measures.instructions import Instructions
from bench.tables.layout.means import GEOMETRIC
from bench.tables.layout.model import Column, Section, Table
from bench.tables.layout.ratios import instruction_ratio
from bench.tables.layout.values import ADDED

_PROGRAMS = frozenset({"bzip2", "lua", "sqlite", "evaluator", "espresso"})
_CONFIGS = ("edges", "edges-early", "paths", "both-stages")

TABLE = Table(
    name="stages",
    title="Early edges beside late paths",
    description=(
        "At the early stage every line of the source keeps a count of its own; paths are counted at the late "
        "stage, in the program that really runs. The last column is a program with both: edges before "
        "optimisation, and paths after it. It adds about as much as the two together, so that it saves "
        "nothing but a second run. And its paths are those of another program: the early probes keep the "
        "optimiser from simplifying the code that the late ones count. So trodden offers two builds, and not "
        "one with both."
    ),
    measures=tuple(Instructions(config) for config in with_baselines(_CONFIGS)),
    sections=(
        Section(
            "instructions",
            "Added instructions by stage",
            tuple(
                Column(
                    config, label_of(config), partial(instruction_ratio, config=config), ADDED, (GEOMETRIC,)
                )
                for config in _CONFIGS
            ),
        ),
    ),
    programs=lambda program: program.name in _PROGRAMS,
)
