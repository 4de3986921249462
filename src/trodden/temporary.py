"""Temporary files that a signal does not leave behind.

SIGTERM, SIGHUP and SIGINT end a command by an exception, so that everything is put in order on the way; then
the process dies by the same signal.  Whatever was made meanwhile is also on a list, since a signal may arrive
between any two instructions: what is on it at the end is removed.  Only SIGKILL leaves anything.

What only some commands need is imported where it is used: every command starts with this module.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """A signal that ends this process has arrived."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass
class _State:
    """What was made and not removed, and the signal that has arrived."""

    made: set[str] = field(default_factory=set)
    deferred: int = 0
    pending: int = 0
    ending: bool = False

    def arrive(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal; a second one does not disturb the end."""
        if self.deferred:
            self.pending = self.pending or number
        elif not self.ending:
            self.ending = True
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


_state = _State()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A signal that arrives meanwhile is handled afterwards."""
    _state.deferred += 1
    try:
        yield
    finally:
        _state.deferred -= 1
        if _state.pending and not _state.deferred:
            number, _state.pending = _state.pending, 0
            _state.arrive(number, None)


def make_directory(prefix: str, parent: Path | None = None) -> Path:
    """A new directory, for this user alone; :func:`remove` it, or :func:`keep` it."""
    import tempfile

    with _undisturbed():
        made = tempfile.mkdtemp(prefix=prefix, dir=parent)
        _state.made.add(made)
    return Path(made)


def make_file(prefix: str, parent: str) -> tuple[int, str]:
    """A new file, open for writing, and its path."""
    import tempfile

    with _undisturbed():
        handle, made = tempfile.mkstemp(prefix=prefix, dir=parent)
        _state.made.add(made)
    return handle, made


def keep(path: Path | str) -> None:
    """A file or directory is not temporary any more, or is not there any more."""
    _state.made.discard(str(path))


def remove(path: Path | str) -> None:
    """Remove a file or directory, if it is still there."""
    import shutil

    with _undisturbed():
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(path)
        keep(path)


@contextlib.contextmanager
def directory(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A directory that is removed afterwards."""
    made = make_directory(prefix, parent)
    try:
        yield made
    finally:
        remove(made)


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Whatever signal ends the commands inside, they leave no temporary files.

    Signals that are ignored (``nohup``) or handled already stay so, and so do all outside of the main thread.
    """
    before = {}
    for number in _ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            with contextlib.suppress(ValueError):
                before[number] = signal.signal(number, _state.arrive)
    try:
        yield
    except Terminated as terminated:
        _clear()
        signal.signal(terminated.number, signal.SIG_DFL)
        os.kill(os.getpid(), terminated.number)
    except KeyboardInterrupt:
        _clear()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _state.ending = False


def _clear() -> None:
    for path in list(_state.made):
        remove(path)
