"""Servers that a client talks to while another thread waits for them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.run.client_thread import ClientThread
from bench.run.process_memory import MemoryWatcher, Waiter
from bench.support.errors import BenchError

SERVER = """\
trap 'exit 7' TERM
echo ready > ready
while ! [ -e stop ]; do sleep 0.02; done
"""


def started(waiter: Waiter, directory: Path, body: str = SERVER) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([*waiter.before, "/bin/sh", "-c", body], cwd=directory)
    waiter.started(process.pid)
    return process


def ask(directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
    """Wait for the server, stop it, and wait until it has ended."""
    while not (directory / "ready").exists():
        assert alive()
        time.sleep(0.01)
    (directory / "stop").touch()
    while alive():
        time.sleep(0.01)
    return inputs.name.encode()


@pytest.mark.parametrize("kind", [Waiter, MemoryWatcher])
def test_a_client_talks_while_another_thread_waits(kind: type[Waiter], tmp_path: Path) -> None:
    waiter = kind()
    process = started(waiter, tmp_path)
    client = ClientThread(ask, tmp_path, Path("given"), process.pid)
    client.start()
    status, _ = waiter.wait(process.pid)
    client.finish()
    assert (status, client.replies) == (0, b"given")
    if isinstance(waiter, MemoryWatcher):
        assert waiter.peak > 0


def test_a_server_whose_client_fails_is_killed(tmp_path: Path) -> None:
    def fail(directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
        raise BenchError("nobody answers")

    process = started(Waiter(), tmp_path)
    client = ClientThread(fail, tmp_path, tmp_path, process.pid)
    client.start()
    status, _ = Waiter().wait(process.pid)
    assert status == 9
    with pytest.raises(BenchError, match="nobody answers"):
        client.finish()


def test_a_client_notices_that_the_server_has_ended(tmp_path: Path) -> None:
    process = started(Waiter(), tmp_path, "exit 3")
    client = ClientThread(ask_until_gone, tmp_path, tmp_path, process.pid)
    client.start()
    Waiter().wait(process.pid)
    with pytest.raises(BenchError, match="it does not listen"):
        client.finish()


def ask_until_gone(directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
    while alive():
        time.sleep(0.01)
    raise BenchError("it does not listen")
