"""Who is measured when: builds, runs under callgrind and the like side by side, times alone at the end.

Every figure is kept as soon as it is taken, and what is kept already is not taken again.  What fails is
noted with its program, and all others go on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from traceback import extract_tb
from typing import TypeAlias

from bench.build.configurations import GUIDED
from bench.build.machine import trodden_version
from bench.cli.progress import Watched
from bench.measures.model import Json, Measure
from bench.measures.store import Store
from bench.run.executables import ready
from bench.suite.model import SuiteProgram
from bench.support.directories import PROJECT
from bench.support.errors import BenchError
from trodden.errors import TroddenError

FAILURES = (BenchError, TroddenError, OSError)
"""What a program may come to grief on; anything else is a mistake of ours, which must not stop the others."""


_LAST_LINES = 12
_LONGEST_LINE = 400

SOURCES = "sources and inputs"
"""What has to be there before anything else."""

Wanted: TypeAlias = tuple[SuiteProgram, Sequence[Measure]]
"""A program and what is to be taken of it."""


@dataclass
class Failures:
    """What went wrong, by program, and there by what it was."""

    found: dict[str, dict[str, str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, program: str, what: str, error: Exception) -> None:
        """Note the reason."""
        with self._lock:
            self.found.setdefault(program, {})[what] = _in_short(_reason(error))

    def reasons(self, program: str, parts: Collection[str] | None = None) -> list[str]:
        """All reasons of a program, or those of some of its parts, each once."""
        found = self.found.get(program, {}).items()
        return list(dict.fromkeys(reason for what, reason in found if parts is None or what in parts))


@dataclass
class Schedule:
    """Takes what is asked for, of each program what it needs."""

    store: Store
    progress: Watched
    jobs: int
    failures: Failures = field(default_factory=Failures)
    sources: str = field(default_factory=trodden_version)

    def carry_out(self, wanted: Sequence[Wanted]) -> None:
        """Take all measures that are not kept yet."""
        pool = ThreadPoolExecutor(self.jobs)
        try:
            self._all(pool, wanted)
        finally:
            # Whoever is interrupted does not wait for what is under way.
            pool.shutdown(wait=False, cancel_futures=True)

    def _all(self, pool: ThreadPoolExecutor, wanted: Sequence[Wanted]) -> None:
        looking = [(program, pool.submit(self._lacking, program, all_of)) for program, all_of in wanted]
        under_way: list[Future[None]] = []
        for (program, future), (_, measures) in zip(looking, wanted, strict=True):
            lacking = future.result()
            if lacking and len(lacking) < len(measures):
                kept = len(measures) - len(lacking)
                self.progress.say(f"{program.name}: {kept} of {len(measures)} figures are there already")
            ways = ways_of(lacking)
            self.progress.expect(len(ways) + sum(lacking.values()))
            under_way += [pool.submit(self._build, program, way) for way in ways]
            under_way += [pool.submit(self._take, program, each) for each in lacking if not each.exclusive]
        _must_end(under_way)
        for program, future in looking:
            for measure in future.result():
                if measure.exclusive:
                    self._take(program, measure)

    def _lacking(self, program: SuiteProgram, measures: Sequence[Measure]) -> dict[Measure, int]:
        """The measures that are still to be taken, and in how many parts.

        What they follow from is fetched to tell that.
        """
        try:
            left = {measure: measure.left(program, self._kept(program, measure)) for measure in measures}
        except Exception as error:
            self.failures.add(program.name, SOURCES, error)
            self.progress.say(f"{program.name}: {first_line(error)}")
            return {}
        return {measure: parts for measure, parts in left.items() if parts}

    def _kept(self, program: SuiteProgram, measure: Measure) -> Json | None:
        return self.store.current(program.name, measure.key, measure.fingerprint(program))

    def _build(self, program: SuiteProgram, way: str) -> None:
        with self.progress.step(f"{program.name}: build {way}"):
            try:
                ready(program, way)
            except Exception as error:
                self._failed(program, f"build/{way}", error)

    def _take(self, program: SuiteProgram, measure: Measure) -> None:
        broken = self._broken(program, measure.ways)
        rest = measure.without(broken) if broken else measure
        if rest is None:
            # Why is known from the build.
            self.progress.expect(-1)
            return
        try:
            self._take_all(program, rest)
        except Exception as error:
            self._failed(program, measure.key, error)

    def _take_all(self, program: SuiteProgram, measure: Measure) -> None:
        state = measure.fingerprint(program)
        value = self._kept(program, measure)
        while measure.left(program, value):
            with self.progress.step(f"{program.name}: {measure.key}"):
                value = measure.go_on(program, value)
                if trodden_version() != self.sources:
                    raise BenchError(f"{program.name}: trodden's sources have changed meanwhile; start again")
                self.store.put(program.name, measure.key, state, value)

    def _broken(self, program: SuiteProgram, ways: Sequence[str]) -> set[str]:
        """Those of the builds that could not be made or went wrong; one that is under way is waited for."""
        found = set()
        for way in ways:
            try:
                ready(program, way)
            except Exception:
                # Why is told where it is built.
                found.add(way)
        return found

    def _failed(self, program: SuiteProgram, what: str, error: Exception) -> None:
        self.failures.add(program.name, what, error)
        self.progress.say(f"{program.name}: {what} failed: {first_line(error)}")


def ways_of(measures: Iterable[Measure]) -> list[str]:
    """All builds that measures need, the one that learns from another one last."""
    ways = dict.fromkeys(way for measure in measures for way in measure.ways)
    return sorted(ways, key=lambda way: way == GUIDED)


def joined(measures: Sequence[Measure]) -> list[Measure]:
    """One measure for all of the same key."""
    found: dict[str, Measure] = {}
    for measure in measures:
        before = found.get(measure.key)
        found[measure.key] = measure if before is None else before.joined(measure)
    return list(found.values())


def first_line(error: Exception) -> str:
    """The first line of what an error says."""
    return _reason(error).splitlines()[0]


def _reason(error: Exception) -> str:
    """What an error says; if it is none that was expected, also where it comes from."""
    said = str(error).strip()
    if isinstance(error, FAILURES) and said:
        return said
    frames = extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"a mistake of the bench: {type(error).__name__}: {said}{where}"


def _in_short(text: str) -> str:
    """The first line, which names the program and the build, and the last ones, which have the reason.

    It ends up on the page, so nothing is said of where on this machine the project lies.
    """
    lines = text.replace(f"{PROJECT}/", "").splitlines()
    cut = len(lines) > _LAST_LINES + 1
    return "\n".join([lines[0][:_LONGEST_LINE], *lines[-_LAST_LINES:]] if cut else lines)


def _must_end(futures: Sequence[Future[None]]) -> None:
    """Wait for all; a mistake in one of them ends the rest."""
    wait(futures, return_when=FIRST_EXCEPTION)
    for future in futures:
        future.result()
