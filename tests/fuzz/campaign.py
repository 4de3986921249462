"""Starts a worker, listens to it, and starts another if it dies."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_SILENCE = 60.0
"""A worker that has said nothing for so long, in seconds, is stuck where no alarm reaches it."""


def memory_folder() -> str | None:
    """Where files are made soonest, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass
class Outcome:
    """What a campaign has found; ``counted[reader]`` is how many inputs were read and how many were kept."""

    failures: list[dict[str, Any]] = field(default_factory=list)
    counted: dict[str, list[int]] = field(default_factory=dict)
    lines: int = 0

    @property
    def runs(self) -> int:
        """Inputs read by all readers."""
        return sum(runs for runs, _ in self.counted.values())


def campaign(
    seeds: Path,
    work: Path,
    crashes: Path,
    seconds: float,
    seed: int,
    names: Sequence[str] = (),
    told: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Let readers read changed files for some time."""
    outcome = Outcome()
    crashes.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    generation = 0
    while (left := end - time.monotonic()) > 0.5:
        room = work / f"room-{generation}"
        command = [sys.executable, "-m", "tests.fuzz.worker", "--seeds", str(seeds), "--room", str(room)]
        command += [
            "--crashes",
            str(crashes),
            "--seconds",
            str(left),
            "--seed",
            str(seed + generation),
            *names,
        ]
        before = {name: list(pair) for name, pair in outcome.counted.items()}
        status, last = _listen(command, outcome, before, told)
        if status != 0:
            outcome.failures.append(_died(work / f"{room.name}.current", crashes, status, last))
        generation += 1
    return outcome


def _listen(
    command: Sequence[str],
    outcome: Outcome,
    before: dict[str, list[int]],
    told: Callable[[Outcome], None],
) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as worker:
        said: queue.Queue[str | None] = queue.Queue()
        complaints: list[str] = []

        def listen() -> None:
            assert worker.stdout is not None
            for line in worker.stdout:
                said.put(line)
            said.put(None)

        def gather() -> None:
            assert worker.stderr is not None
            complaints.append(worker.stderr.read())

        threads = [threading.Thread(target=each, daemon=True) for each in (listen, gather)]
        for thread in threads:
            thread.start()
        while True:
            try:
                line = said.get(timeout=_SILENCE)
            except queue.Empty:
                worker.kill()
                break
            if line is None:
                break
            _learn(json.loads(line), outcome, before)
            told(outcome)
        status = worker.wait()
        threads[1].join(5)
        return status, "".join(complaints)


def _learn(message: dict[str, Any], outcome: Outcome, before: dict[str, list[int]]) -> None:
    for name, (runs, kept) in message["counted"].items():
        had = before.get(name, [0, 0])
        outcome.counted[name] = [had[0] + runs, had[1] + kept]
    outcome.lines = max(outcome.lines, message["lines"])
    known = {failure["kind"] for failure in outcome.failures}
    if message["event"] == "failure" and message["kind"] not in known:
        outcome.failures.append(message)


def _died(current: Path, crashes: Path, status: int, complaints: str) -> dict[str, Any]:
    """A reader that took its process along."""
    target, _, data = current.read_bytes().partition(b"\n") if current.exists() else (b"worker", b"", b"")
    path = crashes / f"{target.decode()}-died.bin"
    path.write_bytes(data)
    kind = f"{target.decode()}: the process died with status {status}"
    return {"kind": kind, "details": complaints[-4000:], "path": str(path), "seed": None}
