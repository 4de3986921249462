"""Redis: a server, which one client asks for a fixed list of things and then tells to end.

It keeps nothing on disk and takes care of nothing in the background that could be switched off, so that the
work is the same each time.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Thread

from bench.build.redis import VERSION, Redis
from bench.suite.inputs import redis_commands
from bench.suite.model import Case, SuiteProgram
from bench.support.errors import BenchError

_SOCKET = "redis.sock"
_COMMANDS = "commands"
_PATIENCE = 600.0
_CHUNK = 1 << 16
_OPTIONS = (
    *("--port", "0", "--unixsocket", _SOCKET, "--logfile", "log", "--daemonize", "no"),
    *("--save", "", "--appendonly", "no"),
    *("--hz", "1", "--dynamic-hz", "no", "--activerehashing", "no", "--latency-tracking", "no"),
)


def talk(directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
    """Send all commands without waiting for replies, take the replies, and tell the server to end."""
    try:
        with _connected(directory, alive) as connection:
            replies = _asked(connection, (inputs / _COMMANDS).read_bytes())
        with _connected(directory, alive) as connection:
            refused = _asked(connection, b"SHUTDOWN NOSAVE\r\n")
    except OSError as error:
        raise BenchError(f"redis broke off: {error}; see {directory / 'log'}") from error
    if refused:
        raise BenchError(f"redis does not end: {refused.decode(errors='replace').strip()}")
    return replies


def _asked(connection: socket.socket, commands: bytes) -> bytes:
    """All replies to commands after the last of which the server closes the connection.

    It is sent by another thread, as a server that cannot get rid of its replies reads no more commands.
    """
    sender = Thread(target=_send, args=(connection, commands), daemon=True)
    sender.start()
    replies = bytearray()
    while chunk := connection.recv(_CHUNK):
        replies += chunk
    sender.join(_PATIENCE)
    return bytes(replies)


def _send(connection: socket.socket, content: bytes) -> None:
    # If it breaks off, whoever takes the replies sees that they end too early.
    with suppress(OSError):
        connection.sendall(content)


@contextmanager
def _connected(directory: Path, alive: Callable[[], bool]) -> Iterator[socket.socket]:
    """A connection to the server in this directory, as soon as it listens.

    The name of a socket has little room, so that the directory is called by the number of an open file.
    """
    number = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        deadline = time.monotonic() + _PATIENCE
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(_PATIENCE)
                if connection.connect_ex(f"/proc/self/fd/{number}/{_SOCKET}") == 0:
                    yield connection
                    return
            if not alive() or time.monotonic() > deadline:
                raise BenchError(f"redis does not listen; see {directory / 'log'}")
            time.sleep(0.02)
    finally:
        os.close(number)


def _shop(directory: Path) -> None:
    (directory / _COMMANDS).write_bytes(redis_commands.encoded(redis_commands.shop(Random(61), 3_000)))


def _busy_shop(directory: Path) -> None:
    (directory / _COMMANDS).write_bytes(redis_commands.encoded(redis_commands.shop(Random(61), 50_000)))


def _laboratory(directory: Path) -> None:
    commands = redis_commands.laboratory(Random(67), 500)
    (directory / _COMMANDS).write_bytes(redis_commands.encoded(commands))


REDIS = SuiteProgram(
    name="redis",
    version=VERSION,
    about="answers one client's commands, a thousand runs of scripts among them",
    recipe=Redis(),
    train=Case(
        arguments=_OPTIONS,
        files=_laboratory,
        sha256="78bd798ef9016155e74a5b794dc7ac01446d87b6b245aa590a8d26c7ef68ab00",
    ),
    ref=Case(
        arguments=_OPTIONS,
        files=_shop,
        sha256="bf8f3349176e4fac17353e5a1a054a105888e4731766a8c0f2fbc41ef4838f0a",
    ),
    long=Case(
        arguments=_OPTIONS,
        files=_busy_shop,
        sha256="d30eed9010221ed2afeff6b86334b2a2e1da36bee3e0dc1b27fdd4530b6fa4ac",
    ),
    driver=talk,
)
