"""The process that does the work: changes inputs, lets readers read them, keeps what reaches new lines.

It tells its parent on standard output, a line of JSON each time, how far it has come and what it has found.
What it is just about to read stands in a file, in case that it does not live to tell.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.fuzz.envelopes import Envelope
from tests.fuzz.lines import Lines
from tests.fuzz.seeds import read_seeds
from tests.fuzz.shrink import shrink
from tests.fuzz.targets import PLANTED, TARGETS, Target
from tests.fuzz.trial import Failure, Room, limit_memory

SLICE = 2.0
_SHRINK_SECONDS = 15.0
_MOST_KEPT = 4000
_LARGEST_KEPT = 1 << 18


@dataclass
class Pursuit:
    """A reader with the inputs that are worth changing."""

    target: Target
    inputs: list[bytes]
    said: set[str] = field(default_factory=set)
    runs: int = 0
    kept: int = 0


class Worker:
    """Goes from reader to reader, a slice of time for each."""

    def __init__(self, seeds: Path, room: Path, crashes: Path, names: Sequence[str], seed: int) -> None:
        self._random = Random(seed)
        self._seed = seed
        self._room = Room(room, seeds)
        self._current = room.parent / f"{room.name}.current"
        self._crashes = crashes
        self._known: set[str] = set()
        self._lines = Lines()
        self._pursuits = [
            Pursuit(target, found)
            for target in (*TARGETS, PLANTED)
            if (target.name in names or (not names and target is not PLANTED))
            and (found := read_seeds(seeds, target.seeds))
        ]

    def run(self, seconds: float) -> None:
        """Until the time is up."""
        end = time.monotonic() + seconds
        for pursuit in self._pursuits:
            for data in list(pursuit.inputs):
                self._try(pursuit, data, None)
        while time.monotonic() < end:
            for pursuit in self._pursuits:
                stop = min(end, time.monotonic() + min(SLICE, seconds / len(self._pursuits)))
                while time.monotonic() < stop:
                    self._step(pursuit)
                self._tell("progress")

    def _step(self, pursuit: Pursuit) -> None:
        random = self._random
        # The latest finds are the least explored.
        recent = random.random() < 0.5
        data = random.choice(pursuit.inputs[-20:] if recent else pursuit.inputs)
        envelope = random.choice(pursuit.target.envelopes)
        try:
            changed = envelope.change(random, data, pursuit.inputs)
        except (ValueError, MemoryError, RecursionError):
            return  # there is no such content, or no making anything of it
        self._try(pursuit, changed, envelope)

    def _try(self, pursuit: Pursuit, data: bytes, envelope: Envelope | None) -> None:
        self._current.write_bytes(pursuit.target.name.encode() + b"\n" + data)
        before = len(self._lines.seen)
        self._lines.start()
        try:
            failure, said = self._room.attempt(pursuit.target, data)
        finally:
            self._lines.stop()
        pursuit.runs += 1
        if failure is not None:
            self._found(pursuit, data, envelope, failure)
        elif envelope is not None and (len(self._lines.seen) > before or said not in pursuit.said):
            pursuit.said.add(said)
            if len(data) <= _LARGEST_KEPT and len(pursuit.inputs) < _MOST_KEPT:
                pursuit.inputs.append(data)
                pursuit.kept += 1

    def _found(self, pursuit: Pursuit, data: bytes, envelope: Envelope | None, failure: Failure) -> None:
        if failure.kind in self._known:
            return
        self._known.add(failure.kind)
        if envelope is not None:

            def fails(candidate: bytes) -> bool:
                again = self._room.attempt(pursuit.target, candidate)[0]
                return again is not None and again.kind == failure.kind

            data = shrink(data, envelope, fails, _SHRINK_SECONDS)
        path = self._crashes / f"{_file_name(failure.kind)}.bin"
        path.write_bytes(data)
        self._tell("failure", kind=failure.kind, details=failure.details, path=str(path), seed=self._seed)

    def _tell(self, event: str, **more: object) -> None:
        counted = {each.target.name: [each.runs, each.kept] for each in self._pursuits}
        print(
            json.dumps({"event": event, "counted": counted, "lines": len(self._lines.seen), **more}),
            flush=True,
        )


def _file_name(kind: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in kind).replace("--", "-").strip("-")


def main() -> None:
    """What the parent starts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=Path, required=True)
    parser.add_argument("--room", type=Path, required=True)
    parser.add_argument("--crashes", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    worker = Worker(given.seeds, given.room, given.crashes, given.names, given.seed)
    limit_memory()
    worker.run(given.seconds)


if __name__ == "__main__":
    sys.setrecursionlimit(1000)
    main()
