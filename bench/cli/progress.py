"""What is going on, on stderr: a bar where somebody looks at it, lines where it goes into a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Watched(Protocol):
    """Told about steps as they are begun and done, by several threads."""

    def __enter__(self) -> Watched:
        """Begin to show."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was."""
        ...

    def expect(self, steps: int) -> None:
        """There are so many more steps to come."""
        ...

    def say(self, line: str) -> None:
        """Something to know that stays."""
        ...

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """One step, while it lasts."""
        ...


class Lines:
    """One line a step, when it begins, with how many are done of how many."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._done = 0
        self._total = 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def expect(self, steps: int) -> None:
        """There are so many more steps to come."""
        with self._lock:
            self._total += steps

    def say(self, line: str) -> None:
        """A line."""
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """A line at its begin."""
        self.say(f"[{self._done}/{self._total}] {what}")
        try:
            yield
        finally:
            with self._lock:
                self._done += 1


class Bar:
    """One bar for everything, and what runs at the moment behind it."""

    def __init__(self, console: Console) -> None:
        self._lock = Lock()
        self._running: list[str] = []
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task("", total=0)
        self._total = 0

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def expect(self, steps: int) -> None:
        """A longer bar."""
        with self._lock:
            self._total += steps
            self._progress.update(self._task, total=self._total)

    def say(self, line: str) -> None:
        """A line above the bar."""
        self._progress.console.print(line, highlight=False, markup=False)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Shown behind the bar while it lasts."""
        self._change(what, begun=True)
        try:
            yield
        finally:
            self._change(what, begun=False)
            self._progress.advance(self._task)

    def _change(self, what: str, begun: bool) -> None:
        with self._lock:
            (self._running.append if begun else self._running.remove)(what)
            self._progress.update(self._task, description=" | ".join(self._running))


def watched() -> Watched:
    """A bar on a terminal, lines elsewhere."""
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else Lines()
