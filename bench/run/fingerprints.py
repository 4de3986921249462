"""Fingerprints of builds and runs: hashes of everything that they depend on."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bench.build.builders import builder
from bench.build.configurations import config_of, depends_on_run
from bench.run.inputs import case_fingerprint
from bench.suite.model import CaseName, SuiteProgram
from bench.support.hashing import hashed
from bench.support.memo import Memo

_EXECUTION = ("runs.py", "client_thread.py", "process_memory.py")

_builds: Memo[str] = Memo()


def build_fingerprint(program: SuiteProgram, config: str) -> str:
    """Of a build; one that a run on *train* decides also depends on everything that this run depends on."""

    def compute() -> str:
        own = builder(program.source).fingerprint(config_of(config))
        other = depends_on_run(config)
        if other is None:
            return own
        return hashed(own, build_fingerprint(program, other), case_fingerprint(program, "train"))

    return _builds.get((program.name, config), compute)


def run_fingerprint(program: SuiteProgram, config: str, case: CaseName) -> str:
    """Of a run of a build on a case."""
    return hashed(build_fingerprint(program, config), case_fingerprint(program, case), execution_code())


@cache
def execution_code() -> str:
    """Of the code that executes runs."""
    return hashed(*(Path(__file__).with_name(name).read_text() for name in _EXECUTION))
