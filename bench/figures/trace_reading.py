"""What reading a trace takes: all of it, and its middle alone, each in a process of its own.

A reader regenerates every block as an event, and each batch of events is dropped when the next is there.
What it takes to open the file, and to load Python, belongs to the elapsed time of a seek.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bench.build.toolchain import TRODDEN_SOURCES
from bench.measures.model import Json, RunMeasure
from bench.run.executables import run_of
from bench.run.profiles import collected
from bench.suite.model import CaseName, SuiteProgram
from bench.support.errors import BenchError
from trodden.api.traces import library
from trodden.profile.store.trod import save

_PEAK = """
import json, re, sys, time
def tell(**found):
    peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
    print(json.dumps({**found, "peak": 1024 * int(peak.group(1))}))
"""

_WHOLE = f"""{_PEAK}
from trodden.api.traces import load_trace
class Dropped(list):
    def append(self, batch): pass
blocks, seconds = 0, 0.0
for thread in load_trace(sys.argv[1]).threads:
    reader = thread.reader()
    reader.keep(Dropped())
    start = time.process_time()
    for rest in thread.read_by(reader):
        for _ in rest: pass
    seconds += time.process_time() - start
    blocks += reader.position
tell(blocks=blocks, seconds=seconds)
"""

_MIDDLE = f"""{_PEAK}
from itertools import islice
from trodden.api.traces import load_trace
from trodden.profile.trace.reading import Position
trace = load_trace(sys.argv[1])
longest = max(trace.threads, key=lambda thread: sum(chunk.piece.size for chunk in thread.main))
events = list(islice(trace.events(longest, Position("share", 0.5)), 1000))
tell(events=len(events))
"""


@dataclass(frozen=True)
class TraceReading(RunMeasure):
    """``blocks a second`` of processor time, the ``peak`` memory, seconds until the ``middle`` is read."""

    case: CaseName = "long"
    kind: ClassVar[str] = "trace reading"

    @property
    def exclusive(self) -> bool:
        """It is about time."""
        return True

    def measure(self, program: SuiteProgram) -> Json:
        """Run once, store the trace, and read it twice."""
        run = run_of(program, self.config, self.case, "reading")
        result = run.execute()
        path = result.directory / "trace.trod"
        save(collected(result, run.what), path)
        found = trace_reading(path, run.what)
        shutil.rmtree(result.directory, ignore_errors=True)
        return found


def trace_reading(path: Path, what: str) -> Json:
    """The figures of a profile with a trace."""
    if library() is None:
        raise BenchError(f"{what}: the reader of traces in C is not there; pip install ziglang")
    whole, _ = _read(_WHOLE, path, what)
    middle, elapsed = _read(_MIDDLE, path, what)
    return {
        "bytes": path.stat().st_size,
        "blocks": whole["blocks"],
        "blocks a second": round(whole["blocks"] / max(whole["seconds"], 1e-6)),
        "peak": whole["peak"],
        "middle": round(elapsed, 3),
        "middle peak": middle["peak"],
    }


def _read(script: str, path: Path, what: str) -> tuple[Json, float]:
    """What a script prints, and how long it takes."""
    environment = {**os.environ, "PYTHONPATH": str(TRODDEN_SOURCES)}
    before = os.times().elapsed
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=False, env=environment
    )
    elapsed = os.times().elapsed - before
    if done.returncode != 0:
        raise BenchError(f"{what}: its trace cannot be read: {done.stderr[-500:]}")
    return json.loads(done.stdout), elapsed
