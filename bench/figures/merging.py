"""The memory and time of merging many profiles of one program, a few of which are damaged.

The program runs many times on random texts.  The merged counts must be the sum of all intact profiles, every
damaged one must be named, and the memory must not grow with the number of profiles.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import ClassVar, TypeAlias

from bench.build.toolchain import TRODDEN_SOURCES
from bench.measures.model import BuildMeasure, Json
from bench.run.executables import executable
from bench.suite.model import SuiteProgram
from bench.suite.wordfreq import random_text
from bench.support.directories import WORK
from bench.support.errors import BenchError
from trodden.collect.gather import Programs, gather
from trodden.errors import LeftOut
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.store.trod import load, save

RUNS, FEW, DAMAGED = 10_000, 100, 10
MOST_GROWTH = 4 * 1024 * 1024
"""By how many bytes the memory of ten thousand profiles may exceed that of a hundred."""

_MERGE = """
import json, re, resource, sys
from trodden.commands.main import main
status = main(sys.argv[1:])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([status, 1024 * int(peak.group(1)), used.ru_utime + used.ru_stime]))
"""

EdgeCounts: TypeAlias = Counter[tuple[str, int]]
"""By the name of a function and the number of an edge."""


@dataclass(frozen=True)
class Merged:
    """One merge: its profiles, how many of them are damaged, its processor seconds, its peak memory."""

    profiles: int
    damaged: int
    seconds: float
    peak: int


@dataclass(frozen=True)
class Merging(BuildMeasure):
    """A merge of a hundred profiles, and one of ten thousand."""

    config: str = "edges"
    kind: ClassVar[str] = "merge"

    def measure(self, program: SuiteProgram) -> Json:
        """Make the profiles, merge a few of them and then all, and check the result."""
        directory = WORK / "merge"
        profiles, expected = make_profiles(directory, executable(program, self.config), RUNS)
        output = directory / "merged.trod"
        few = merge(profiles[:FEW], 0, output)
        many = merge(profiles, DAMAGED, output)
        if edge_counts(load(output)) != expected:
            raise BenchError("the merged counts are not the sum of those of the intact profiles")
        if many.peak - few.peak > MOST_GROWTH:
            raise BenchError(
                f"merging {RUNS:,} profiles takes {many.peak - few.peak:,} bytes more than {FEW}"
            )
        shutil.rmtree(directory)
        return [asdict(few), asdict(many)]


def make_profiles(directory: Path, program: Path, runs: int) -> tuple[list[Path], EdgeCounts]:
    """Run the program so often; the profiles, some of them damaged, and the sum of all others."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    random = Random(1)
    known, expected = Programs(), EdgeCounts()
    damaged = set(random.sample(range(FEW, runs), DAMAGED))
    profiles = []
    for number in range(runs):
        profile = _run(directory, program, random, known)
        profiles.append(directory / f"{number:06}.trod")
        save(profile, profiles[-1])
        if number in damaged:
            damage(profiles[-1], random)
        else:
            expected.update(edge_counts(profile))
    return profiles, expected


def _run(directory: Path, program: Path, random: Random, known: Programs) -> Profile:
    text, raw = directory / "text", directory / "counts.raw"
    text.write_text(random_text(random))
    environment = {**os.environ, "TRODDEN_FILE": str(raw)}
    subprocess.run([program, text], stdout=subprocess.DEVNULL, env=environment, check=True)
    found = gather(raw, known)
    return assemble(found.program, found.units, found.unit_counts, found.messages, found.call_paths)


def damage(path: Path, random: Random) -> None:
    """Truncate a file or flip one of its bits."""
    data = bytearray(path.read_bytes())
    if random.random() < 0.5:
        del data[random.randrange(len(data)) :]
    else:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def edge_counts(profile: Profile) -> EdgeCounts:
    """How often each edge of each function was taken."""
    return Counter(
        {
            (name, edge): count
            for name, function in profile.functions.items()
            for edge, count in enumerate(function.edge_counts)
            if count
        }
    )


def merge(profiles: Sequence[Path], damaged: int, output: Path) -> Merged:
    """Merge these in a process of its own."""
    names = output.with_suffix(".list")
    names.write_text("".join(f"{path}\n" for path in profiles))
    command = [sys.executable, "-c", _MERGE, "merge", f"@{names}", "-o", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(TRODDEN_SOURCES)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    status, peak, seconds = json.loads(done.stdout)
    if status != (LeftOut.status if damaged else 0) or done.stderr.count("(left out)") != damaged:
        raise BenchError(f"the merge ended with status {status}: {done.stderr[-500:]}")
    return Merged(len(profiles), damaged, round(seconds, 3), peak)
