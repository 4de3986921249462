"""Inputs and fingerprints of a program, made when they are first asked for and remembered for this process.

Several measures share them; whoever comes first makes them, others wait.  What has failed fails again for
everybody, without being tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from bench.build.configurations import GUIDED, WEIGHED, known
from bench.measures.model import hashed
from bench.suite.model import CaseName, SuiteProgram, contents
from bench.support.errors import BenchError

_T = TypeVar("_T")
_CARRYING_OUT = ("runs.py", "client_thread.py", "process_memory.py")


class Once(Generic[_T]):
    """Answers by key, each computed once, by one thread while others wait."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[tuple[str, ...], Lock] = {}
        self._found: dict[tuple[str, ...], _T | BenchError] = {}

    def get(self, key: tuple[str, ...], make: Callable[[], _T]) -> _T:
        """The answer for a key."""
        with self._guard:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._found:
                try:
                    self._found[key] = make()
                except BenchError as error:
                    self._found[key] = error
            found = self._found[key]
        if isinstance(found, BenchError):
            raise found
        return found


_inputs: Once[tuple[Path, str]] = Once()
_fingerprints: Once[str] = Once()


def inputs(program: SuiteProgram, case: CaseName) -> Path:
    """The directory with the input files of a case."""
    return _made_inputs(program, case)[0]


def case_fingerprint(program: SuiteProgram, case: CaseName) -> str:
    """A hash of all that a run is given and has to answer."""
    told = program.case(case)
    parts = (*told.arguments, told.stdin, told.sha256, *told.outputs, str(told.status))
    return hashed(_made_inputs(program, case)[1], *parts)


def _made_inputs(program: SuiteProgram, case: CaseName) -> tuple[Path, str]:
    def make() -> tuple[Path, str]:
        directory = program.inputs(case)
        return directory, contents(directory)

    return _inputs.get((program.name, case), make)


def build_fingerprint(program: SuiteProgram, way: str) -> str:
    """A hash of all that a build follows from; of the guided one, also of what its weights follow from."""

    def make() -> str:
        own = program.recipe.fingerprint(known(way).way)
        if way != GUIDED:
            return own
        return hashed(own, build_fingerprint(program, WEIGHED), case_fingerprint(program, "train"))

    return _fingerprints.get((program.name, way), make)


def run_fingerprint(program: SuiteProgram, way: str, case: CaseName) -> str:
    """A hash of all that a run of a build follows from: how it is carried out, too."""
    return hashed(build_fingerprint(program, way), case_fingerprint(program, case), carrying_out())


@cache
def carrying_out() -> str:
    """A hash of the code that carries out runs."""
    return hashed(*(Path(__file__).with_name(name).read_text() for name in _CARRYING_OUT))
