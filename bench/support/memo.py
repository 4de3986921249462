"""Values that are computed once a process: several measures share builds, inputs and profiles."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from bench.support.errors import BenchError

_T = TypeVar("_T")


class Memo(Generic[_T]):
    """Values by key, each computed by the first thread that asks for it while others wait.

    A failure is remembered as well: it is raised again for everyone who asks, without another attempt.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[tuple[str, ...], Lock] = {}
        self._values: dict[tuple[str, ...], _T | BenchError] = {}

    def get(self, key: tuple[str, ...], compute: Callable[[], _T]) -> _T:
        """The value of a key."""
        with self._guard:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._values:
                try:
                    self._values[key] = compute()
                except BenchError as error:
                    self._values[key] = error
            value = self._values[key]
        if isinstance(value, BenchError):
            raise value
        return value
