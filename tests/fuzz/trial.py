"""One input and one reader, in a process that may use little memory and little time."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import trodden
from tests.fuzz.targets import Broken, Target
from tests.fuzz.traces import checked_reader
from trodden.errors import TroddenError
from trodden.profile.trace.reading import use_library

MEMORY = 768 << 20
"""How much more memory than it had a process may use: what it takes to read a large file, and some more."""

SECONDS = 10.0
"""How much processor time a reader may take: a busy machine does not make it longer."""

_PATIENCE = 60 * SECONDS
"""How long one that waits for something may take."""

_ROOT = str(Path(trodden.__file__).parent)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(
    ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
)
_HARMLESS = ("/dev/null", "/dev/tty")


_TIMERS = (
    (signal.SIGPROF, signal.ITIMER_PROF, SECONDS),
    (signal.SIGALRM, signal.ITIMER_REAL, _PATIENCE),
)


class _TooLong(BaseException):
    """The time is up."""


class _Escaped(BaseException):
    """A write outside of the folder."""


@dataclass(frozen=True)
class Failure:
    """What went wrong: ``kind`` is the same for inputs that meet the same bug."""

    kind: str
    details: str


class Room:
    """A folder to work in, the only one that may be written to while something is being read."""

    def __init__(self, folder: Path, seeds: Path) -> None:
        self.folder = folder.resolve()
        self._guarding = False
        folder.mkdir(parents=True, exist_ok=True)
        for program in sorted((seeds / "program").iterdir()):
            shutil.copyfile(program, folder / f"program-{program.name}")
        shutil.copyfile(seeds / "trod" / "paths", folder / "y.trod")
        for source in ("a.c", "a.h"):
            shutil.copyfile(seeds / source, folder / source)
        if not (folder / "fifo").exists():
            os.mkfifo(folder / "fifo")
        # Files without names, in which traces are gathered, are made there too.
        unnamed = self.folder / "unnamed"
        unnamed.mkdir(exist_ok=True)
        tempfile.tempdir = str(unnamed)
        use_library(checked_reader)
        checked_reader()
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._guarding:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITES and isinstance(path, str | bytes):
                self._check(path)
        elif event in _CHANGES:
            self._check(arguments[0])
        elif event in ("subprocess.Popen", "os.system", "os.exec", "socket.connect"):
            raise _Escaped(f"{event} {arguments!r:.200}")

    def _check(self, path: Any) -> None:
        if isinstance(path, int):
            return  # a file that is open already
        where = os.path.realpath(os.fsdecode(path))
        if not where.startswith(f"{self.folder}{os.sep}") and where not in _HARMLESS:
            raise _Escaped(f"a write to {where}")

    def attempt(self, target: Target, data: bytes) -> tuple[Failure | None, str]:
        """Let a reader read; answers with what went wrong, and with what the reader said of the input."""
        for number, timer, seconds in _TIMERS:
            signal.signal(number, _ring)
            signal.setitimer(timer, seconds)
        self._guarding = True
        try:
            target.read(data, self.folder)
        except TroddenError as error:
            return None, re.sub(r"\d+", "#", str(error))[:80]
        except (_TooLong, _Escaped, Exception, RecursionError, SystemExit) as error:
            return Failure(_kind(target, error), "".join(traceback.format_exception(error))[-4000:]), ""
        finally:
            for _, timer, _ in _TIMERS:
                signal.setitimer(timer, 0)
            self._guarding = False
        return None, "read"


def _ring(_: int, frame: FrameType | None) -> None:
    raise _TooLong(f"it took more than {SECONDS:g} seconds")


def _kind(target: Target, error: BaseException) -> str:
    """The exception and the last place of ours that it came through."""
    ours = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(_ROOT)]
    what = str(error) if isinstance(error, Broken) else type(error).__name__.strip("_")
    if isinstance(error, _TooLong | MemoryError):
        # Where it was when the time or the memory was used up is chance.
        return f"{target.name}: {what}"
    place = f" in {Path(ours[-1].filename).stem}.{ours[-1].name}" if ours else ""
    return f"{target.name}: {what}{place}"


def limit_memory() -> None:
    """From now on :class:`MemoryError` ends what would fill the memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
