"""The order of measurements: builds and runs under callgrind concurrently, times alone at the end.

Every figure is kept as soon as it is measured, and what is kept already is not measured again.  A failure is
recorded with its program, and everything else continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TypeAlias

from bench.build.configurations import depends_on_run
from bench.build.machine import trodden_version
from bench.cli.failures import SOURCES, Failures, first_line
from bench.cli.progress import Progress
from bench.measures.model import Json, Measure
from bench.measures.store import Store
from bench.run.executables import checked_executable
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError

Request: TypeAlias = tuple[SuiteProgram, Sequence[Measure]]
"""A program and what to measure of it."""


@dataclass
class Schedule:
    """Executes requests."""

    store: Store
    progress: Progress
    jobs: int
    failures: Failures = field(default_factory=Failures)
    sources: str = field(default_factory=trodden_version)

    def execute(self, requests: Sequence[Request]) -> None:
        """Measure everything that is not kept yet."""
        pool = ThreadPoolExecutor(self.jobs)
        try:
            self._all(pool, requests)
        finally:
            # An interrupt does not wait for what is in progress.
            pool.shutdown(wait=False, cancel_futures=True)

    def _all(self, pool: ThreadPoolExecutor, requests: Sequence[Request]) -> None:
        lookups = [(program, pool.submit(self._missing, program, every)) for program, every in requests]
        in_progress: list[Future[None]] = []
        for (program, lookup), (_, measures) in zip(lookups, requests, strict=True):
            missing = lookup.result()
            if missing and len(missing) < len(measures):
                kept = len(measures) - len(missing)
                self.progress.message(f"{program.name}: {kept} of {len(measures)} figures exist already")
            configs = configs_of(missing)
            self.progress.expect(len(configs) + sum(missing.values()))
            in_progress += [pool.submit(self._build, program, config) for config in configs]
            in_progress += [
                pool.submit(self._measure, program, each) for each in missing if not each.exclusive
            ]
        _wait_for(in_progress)
        for program, lookup in lookups:
            for measure in lookup.result():
                if measure.exclusive:
                    self._measure(program, measure)

    def _missing(self, program: SuiteProgram, measures: Sequence[Measure]) -> dict[Measure, int]:
        """The measures that are still to be made, and in how many parts.

        The sources and inputs that they depend on are fetched to determine that.
        """
        try:
            left = {each: each.remaining(program, self._kept(program, each)) for each in measures}
        except Exception as error:
            self.failures.add(program.name, SOURCES, error)
            self.progress.message(f"{program.name}: {first_line(error)}")
            return {}
        return {measure: parts for measure, parts in left.items() if parts}

    def _kept(self, program: SuiteProgram, measure: Measure) -> Json | None:
        return self.store.current(program.name, measure.key, measure.fingerprint(program))

    def _build(self, program: SuiteProgram, config: str) -> None:
        with self.progress.step(f"{program.name}: build {config}"):
            try:
                checked_executable(program, config)
            except Exception as error:
                self._failed(program, f"build/{config}", error)

    def _measure(self, program: SuiteProgram, measure: Measure) -> None:
        broken = self._broken(program, measure.configs)
        rest = measure.without(broken) if broken else measure
        if rest is None:
            # The build has reported the reason.
            self.progress.expect(-1)
            return
        try:
            self._measure_all(program, rest)
        except Exception as error:
            self._failed(program, measure.key, error)

    def _measure_all(self, program: SuiteProgram, measure: Measure) -> None:
        state = measure.fingerprint(program)
        value = self._kept(program, measure)
        while measure.remaining(program, value):
            with self.progress.step(f"{program.name}: {measure.key}"):
                value = measure.extend(program, value)
                if trodden_version() != self.sources:
                    raise BenchError(f"{program.name}: trodden's sources have changed meanwhile; start again")
                self.store.put(program.name, measure.key, state, value)

    def _broken(self, program: SuiteProgram, configs: Sequence[str]) -> set[str]:
        """The builds that failed; one that is in progress is waited for."""
        found = set()
        for config in configs:
            try:
                checked_executable(program, config)
            except Exception:
                # The build reports the reason.
                found.add(config)
        return found

    def _failed(self, program: SuiteProgram, part: str, error: Exception) -> None:
        self.failures.add(program.name, part, error)
        self.progress.message(f"{program.name}: {part} failed: {first_line(error)}")


def configs_of(measures: Iterable[Measure]) -> list[str]:
    """All configurations that measures need; those that need another build are the last."""
    configs = dict.fromkeys(config for measure in measures for config in measure.configs)
    return sorted(configs, key=lambda config: depends_on_run(config) is not None)


def merge_measures(measures: Sequence[Measure]) -> list[Measure]:
    """One measure for all of the same key."""
    found: dict[str, Measure] = {}
    for measure in measures:
        before = found.get(measure.key)
        found[measure.key] = measure if before is None else before.merged(measure)
    return list(found.values())


def _wait_for(futures: Sequence[Future[None]]) -> None:
    """Wait for all; an unexpected error in one of them ends the rest."""
    wait(futures, return_when=FIRST_EXCEPTION)
    for future in futures:
        future.result()
