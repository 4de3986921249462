"""A client that talks to a server in a thread of its own.

The thread that traces a process has to wait for it all the time, since it may stop at any signal.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from bench.suite.model import Client
from bench.support.errors import BenchError


class ClientThread(Thread):
    """Runs a client of process ``pid``, which is killed if the client fails, and keeps its ``replies``."""

    def __init__(self, client: Client, directory: Path, inputs: Path, pid: int) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._directory = directory
        self._inputs = inputs
        self._pid = pid
        self._ended = Event()
        self.replies = b""
        self._error: Exception | None = None

    def run(self) -> None:
        """Talk to the server until the client is done."""
        try:
            self.replies = self._client(self._directory, self._inputs, self._alive)
        except (BenchError, OSError) as error:
            self._error = error
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def finish(self) -> None:
        """Called when the process has ended; raises the error of the client if it failed."""
        self._ended.set()
        self.join()
        if self._error is not None:
            raise self._error

    def _alive(self) -> bool:
        return not self._ended.is_set()
