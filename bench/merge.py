"""Ten thousand profiles of one program become one: how long that takes, and whether memory grows with them.

``python -m bench.merge [RUNS]`` builds the example, runs it RUNS times on texts of its own making, damages
ten of the profiles, merges a hundred of them and then all, and compares the result with a sum made one by
one.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError
from bench.programs import WORK
from bench.textual import table
from trodden.collect.gather import Programs, gather
from trodden.errors import LeftOut
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.store.trod import load, save

RUNS, FEW, DAMAGED = 10_000, 100, 10
MOST_GROWTH = 4 * 1024 * 1024
"""What ten thousand profiles may take more than a hundred: the names and numbers of files that were seen."""

_SOURCE = Path(__file__).parents[1] / "examples" / "wordfreq.c"
_WORDS = ("path", "edge", "block", "chord", "tree", "loop", "branch", "probe", "x", "counter-flow")
_MEASURED = """
import json, re, sys
from trodden.commands.main import main
status = main(sys.argv[1:])
most = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(json.dumps([status, 1024 * int(most.group(1))]))
"""

Counts = Counter[tuple[str, int]]


@dataclass(frozen=True)
class Took:
    """One merge: so many profiles, so many of them damaged; its seconds, and its bytes at most."""

    profiles: int
    damaged: int
    seconds: float
    most: int


def make_profiles(folder: Path, runs: int) -> tuple[list[Path], Counts]:
    """Run the program so often; the profiles, ten of them damaged, and the sum of all others."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = folder / "wordfreq"
    command = [sys.executable, "-m", "trodden", "cc", "-O2", str(_SOURCE), "-o", str(program)]
    if subprocess.run(command, check=False).returncode:
        raise BenchError(f"{_SOURCE} could not be built")
    rng = random.Random(1)
    known, truth = Programs(), Counts()
    broken = set(rng.sample(range(FEW, runs), DAMAGED))
    profiles = []
    for number in range(runs):
        profile = _run(folder, program, rng, known)
        profiles.append(folder / f"{number:06}.trod")
        save(profile, profiles[-1])
        if number in broken:
            _damage(profiles[-1], rng)
        else:
            truth.update(edge_counts(profile))
    return profiles, truth


def _run(folder: Path, program: Path, rng: random.Random, known: Programs) -> Profile:
    text, raw = folder / "text", folder / "counts.raw"
    text.write_text(" ".join(rng.choice(_WORDS) for _ in range(rng.randrange(400))))
    environment = {**os.environ, "TRODDEN_FILE": str(raw)}
    subprocess.run([program, text], stdout=subprocess.DEVNULL, env=environment, check=True)
    found = gather(raw, known)
    return assemble(found.program, found.units, found.unit_counts, found.notes, found.calls)


def _damage(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if rng.random() < 0.5:
        del data[rng.randrange(len(data)) :]
    else:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def edge_counts(profile: Profile) -> Counts:
    """How often each edge of each function was taken."""
    return Counter(
        {
            (name, edge): count
            for name, function in profile.functions.items()
            for edge, count in enumerate(function.edge_counts)
            if count
        }
    )


def measure(profiles: Sequence[Path], damaged: int, out: Path) -> Took:
    """Merge these in a process of its own."""
    names = out.with_suffix(".list")
    names.write_text("".join(f"{path}\n" for path in profiles))
    command = [sys.executable, "-c", _MEASURED, "merge", f"@{names}", "-o", str(out)]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    status, most = json.loads(done.stdout)
    if status != (LeftOut.status if damaged else 0) or done.stderr.count("(left out)") != damaged:
        raise BenchError(f"the merge ended with status {status}: {done.stderr[-500:]}")
    return Took(len(profiles), damaged, seconds, most)


def merge_table(found: Sequence[Took]) -> str:
    """One row a merge."""
    rows = [
        [
            f"{each.profiles:,}",
            str(each.damaged),
            f"{each.seconds:.2f} s",
            f"{1000 * each.seconds / each.profiles:.2f} s",
            f"{each.most / 1048576:.1f} MiB",
        ]
        for each in found
    ]
    return table(("profiles", "damaged", "time", "a thousand", "memory at most"), rows)


def main(runs: int) -> int:
    """Measure and print; the status says whether memory kept within its bounds."""
    folder = WORK / "merge"
    profiles, truth = make_profiles(folder, runs)
    out = folder / "merged.trod"
    few = measure(profiles[:FEW], 0, out)
    many = measure(profiles, DAMAGED, out)
    if edge_counts(load(out)) != truth:
        raise BenchError("the merged counts are not the sum of the others")
    print(merge_table([few, many]))
    return 0 if many.most - few.most <= MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
