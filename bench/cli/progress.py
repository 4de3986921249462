"""Progress on stderr: a bar on a terminal, lines otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import Protocol

from rich import progress as rich_progress
from rich.console import Console


class Progress(Protocol):
    """Displays steps, of several threads, when they begin and end."""

    def __enter__(self) -> Progress:
        """Begin to display."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the terminal."""
        ...

    def expect(self, steps: int) -> None:
        """Announce so many more steps."""
        ...

    def message(self, line: str) -> None:
        """A message that stays visible."""
        ...

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """One step, for the time of the context."""
        ...


class Lines:
    """One line a step, when it begins, with the number of steps done and of all steps."""

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
        """Announce so many more steps."""
        with self._lock:
            self._total += steps

    def message(self, line: str) -> None:
        """A line."""
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A line when it begins."""
        self.message(f"[{self._done}/{self._total}] {name}")
        try:
            yield
        finally:
            with self._lock:
                self._done += 1


class Bar:
    """One bar for everything, followed by the steps in progress."""

    def __init__(self, console: Console) -> None:
        self._lock = Lock()
        self._running: list[str] = []
        self._progress = rich_progress.Progress(
            rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TimeElapsedColumn(),
            rich_progress.TextColumn("{task.description}"),
            console=console,
        )
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

    def message(self, line: str) -> None:
        """A line above the bar."""
        self._progress.console.print(line, highlight=False, markup=False)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Displayed after the bar until it ends."""
        self._change(name, begun=True)
        try:
            yield
        finally:
            self._change(name, begun=False)
            self._progress.advance(self._task)

    def _change(self, name: str, begun: bool) -> None:
        with self._lock:
            (self._running.append if begun else self._running.remove)(name)
            self._progress.update(self._task, description=" | ".join(self._running))


def progress_display() -> Progress:
    """A bar on a terminal, lines otherwise."""
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else Lines()
