"""Redis: a server to which one client sends a fixed list of commands and which it then shuts down.

Nothing is saved on disk, and all background work that can be switched off is, so that the work is the same
in every run.
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

from bench.suite.inputs import redis_commands
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.sources import RedisSource
from bench.support.errors import BenchError

_ARCHIVE = Archive(
    "apt",
    "redis",
    "redis_7.0.15.orig.tar.gz",
    "4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982",
)
SERVER = RedisSource("7.0.15", _ARCHIVE, "redis-7.0.15", "redis-server")
LOAD_GENERATOR = RedisSource("7.0.15", _ARCHIVE, "redis-7.0.15", "redis-benchmark")

_SOCKET = "redis.sock"
_COMMANDS = "commands"
_TIMEOUT = 600.0
_CHUNK = 1 << 16
_OPTIONS = (
    *("--port", "0", "--unixsocket", _SOCKET, "--logfile", "log", "--daemonize", "no"),
    *("--save", "", "--appendonly", "no"),
    *("--hz", "1", "--dynamic-hz", "no", "--activerehashing", "no", "--latency-tracking", "no"),
)


def talk(directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
    """Send all commands without waiting for replies, receive the replies, and shut the server down."""
    try:
        with _connected(directory, alive) as connection:
            replies = _exchange(connection, (inputs / _COMMANDS).read_bytes())
        with _connected(directory, alive) as connection:
            refused = _exchange(connection, b"SHUTDOWN NOSAVE\r\n")
    except OSError as error:
        raise BenchError(f"the connection to redis broke: {error}; see {directory / 'log'}") from error
    if refused:
        raise BenchError(f"redis does not shut down: {refused.decode(errors='replace').strip()}")
    return replies


def _exchange(connection: socket.socket, commands: bytes) -> bytes:
    """All replies to some commands, after the last of which the server closes the connection.

    Another thread sends them, since a server whose replies are not received reads no more commands.
    """
    sender = Thread(target=_send, args=(connection, commands), daemon=True)
    sender.start()
    replies = bytearray()
    while chunk := connection.recv(_CHUNK):
        replies += chunk
    sender.join(_TIMEOUT)
    return bytes(replies)


def _send(connection: socket.socket, content: bytes) -> None:
    # If the connection breaks, the receiver of the replies sees that they end too early.
    with suppress(OSError):
        connection.sendall(content)


@contextmanager
def _connected(directory: Path, alive: Callable[[], bool]) -> Iterator[socket.socket]:
    """A connection to the server in this directory, as soon as it listens.

    The path of a socket must be short, so the directory is named by a file descriptor.
    """
    number = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        deadline = time.monotonic() + _TIMEOUT
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(_TIMEOUT)
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
    about="executes one client's commands, among them a thousand scripts",
    source=SERVER,
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
    client=talk,
)
