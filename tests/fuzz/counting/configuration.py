"""The ways in which a program is built and run."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.fuzz.counting.program import Program

_AS_WRITTEN = ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize")
"""A block that contains a line twice runs once, and only the line is known."""

_COUNTERS = {
    "edges": ("edges", "edges", "every-edge", "checked"),
    "blocks": ("blocks-by-edges", "blocks-by-blocks", "every-block"),
    "paths": ("", "", "checked"),
    "trace": ("", "checked"),
}
_ENCODINGS = ("paths", "witnesses", "bits")
_PATH_OPTIONS = (
    (),
    (),
    ("--trodden-max-paths=none",),
    ("--trodden-max-paths=1",),
    ("--trodden-max-paths=20",),
    ("--trodden-cut-by=loops",),
    ("--trodden-cut-by=node", "--trodden-max-paths=8"),
    ("--trodden-context=on",),
    ("--trodden-last=9",),
    ("--trodden-metric=cycles",),
)
_CODE = (
    (),
    (),
    ("-fomit-frame-pointer",),
    ("-fno-omit-frame-pointer",),
    ("-fno-inline",),
    ("-ffunction-sections", "-Wl,--gc-sections"),
    ("-fPIC",),
    ("-fno-optimize-sibling-calls",),
)
_LEVELS = ("-O0", "-O1", "-O2", "-O2", "-O3", "-Os")
LINKED = ("together", "together", "shared", "loaded", "static", "no-pie")


@dataclass(frozen=True)
class Configuration:
    """Flags for the compiler, how the two files become one program, and how that is run."""

    level: str
    stage: str
    profile: str
    linked: str
    flags: tuple[str, ...]
    under_run: bool = False

    @property
    def as_written(self) -> bool:
        """Whether the blocks are those of the source."""
        return self.level == "-O0" or self.stage == "early"

    @property
    def options(self) -> list[str]:
        """The flags for the compiler."""
        own = [f"--trodden-stage={self.stage}", f"--trodden-profile={self.profile}", *self.flags]
        return [self.level, *_AS_WRITTEN, *own]

    def describe(self) -> str:
        """As a few words."""
        words = [self.level, self.stage, self.profile, self.linked, *self.flags]
        return " ".join(words + ["(trodden run)"] * self.under_run)


def random_configuration(chance: random.Random, program: Program) -> Configuration:
    """Any way in which this program can be built, and in which its counts are promised to be exact."""
    in_doubt = program.features.faults or program.end == "fault"
    walked = not program.guarded and not program.features.forks
    profile = chance.choice(
        ("edges", "edges", "blocks", *["paths", "trace"] * (3 if walked else 1), *["paths"] * walked)
    )
    early = profile in ("edges", "blocks") and not in_doubt and program.exact and chance.random() < 0.35
    stage = "early" if early else "late"
    counters = chance.choice(_COUNTERS[profile])
    flags = [f"--trodden-counters={counters}"] if counters else []
    if profile == "paths":
        flags += chance.choice(_PATH_OPTIONS)
    if profile == "trace":
        flags.append(f"--trodden-trace={chance.choice(_ENCODINGS)}")
    if stage == "late" and profile != "trace" and chance.random() < 0.15:
        flags.append("--trodden-call-paths=on")
    if not program.exact or chance.random() < 0.15 or (early and program.features.signals):
        flags.append("--trodden-durable=on")
    flags += chance.choice(_CODE)
    linked = chance.choice(LINKED)
    if linked == "static" and (program.features.cpp or program.features.threads):
        linked = "together"
    level = chance.choice(_LEVELS if program.guarded or early else _LEVELS[:1])
    return Configuration(level, stage, profile, linked, tuple(flags), chance.random() < 0.15)
