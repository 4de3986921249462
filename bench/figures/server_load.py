"""The throughput of a server under load, and its processor time per request.

Redis is put under load by its own redis-benchmark over the loopback device.  In every round each build runs
once on a fresh server, with one thread for all requests.  Threads for input and output spin while they wait,
so that with fewer processors than threads the throughput would depend mostly on the scheduler.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from bench.build.builders import builder
from bench.build.configurations import config_of, with_baselines
from bench.measures.code import code_of
from bench.measures.model import Json, Measure
from bench.run.executables import executable
from bench.run.fingerprints import build_fingerprint
from bench.run.redis_server import Server
from bench.suite.model import SuiteProgram
from bench.suite.redis import LOAD_GENERATOR
from bench.support.directories import WORK
from bench.support.hashing import hashed

ROUNDS = 7
_REQUESTS = 100_000
_OPTIONS = ("--io-threads", "1", "--save", "", "--appendonly", "no")


@dataclass(frozen=True)
class ServerLoad(Measure):
    """Rounds of ``{config: [requests per second, microseconds of processor time per request]}``."""

    requested: tuple[str, ...]
    rounds: int = ROUNDS

    @property
    def key(self) -> str:
        """There is one a program."""
        return "server load"

    @property
    def configs(self) -> tuple[str, ...]:
        """All builds, baselines first."""
        return with_baselines(self.requested)

    @property
    def exclusive(self) -> bool:
        """Nothing else may run."""
        return True

    def fingerprint(self, program: SuiteProgram) -> str:
        """All builds, the load, and the code that measures."""
        builds = (build_fingerprint(program, config) for config in self.configs)
        return hashed(code_of(__name__), str(_REQUESTS), *_OPTIONS, *builds)

    def measure(self, program: SuiteProgram) -> Json:
        """All rounds at once."""
        value = None
        while self.remaining(program, value):
            value = self.extend(program, value)
        return value

    def extend(self, program: SuiteProgram, before: Json) -> Json:
        """One more round."""
        return [*(before or []), {config: self._load(program, config) for config in self.configs}]

    def remaining(self, program: SuiteProgram, value: Json) -> int:
        """The rounds that are still to come."""
        return max(0, self.rounds - len(value or []))

    def without(self, configs: Collection[str]) -> Measure | None:
        """The builds that are left."""
        requested = tuple(config for config in self.requested if config not in configs)
        return replace(self, requested=requested) if requested else None

    def _load(self, program: SuiteProgram, config: str) -> list[float]:
        generator = builder(LOAD_GENERATOR).executable(config_of("clang"))
        directory = WORK / "run" / program.name / f"{config}-load"
        with Server(executable(program, config), directory, _OPTIONS) as server:
            load = server.load(generator, _REQUESTS)
            server.shut_down()
        return [round(load.rate, 1), round(load.cost, 4)]
