"""Programs that a client talks to while they are waited for."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.run.client_thread import Driven
from bench.run.process_memory import Waiter, Watcher
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
    """Wait for the server as a client does, ask for its end, and see it."""
    while not (directory / "ready").exists():
        assert alive()
        time.sleep(0.01)
    (directory / "stop").touch()
    while alive():
        time.sleep(0.01)
    return inputs.name.encode()


@pytest.mark.parametrize("kind", [Waiter, Watcher])
def test_a_client_talks_while_the_program_is_waited_for(kind: type[Waiter], tmp_path: Path) -> None:
    waiter = kind()
    process = started(waiter, tmp_path)
    driven = Driven(ask, tmp_path, Path("given"), process.pid)
    driven.start()
    status, _ = waiter.ended(process.pid)
    driven.ended()
    assert (status, driven.replies) == (0, b"given")
    if isinstance(waiter, Watcher):
        assert waiter.most > 0


def test_a_program_whose_client_gives_up_is_ended(tmp_path: Path) -> None:
    def give_up(directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
        raise BenchError("nobody answers")

    process = started(Waiter(), tmp_path)
    driven = Driven(give_up, tmp_path, tmp_path, process.pid)
    driven.start()
    status, _ = Waiter().ended(process.pid)
    assert status == 9
    with pytest.raises(BenchError, match="nobody answers"):
        driven.ended()


def test_a_client_learns_that_the_program_has_ended(tmp_path: Path) -> None:
    process = started(Waiter(), tmp_path, "exit 3")
    driven = Driven(ask_until_gone, tmp_path, tmp_path, process.pid)
    driven.start()
    Waiter().ended(process.pid)
    with pytest.raises(BenchError, match="it does not listen"):
        driven.ended()


def ask_until_gone(directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
    while alive():
        time.sleep(0.01)
    raise BenchError("it does not listen")
