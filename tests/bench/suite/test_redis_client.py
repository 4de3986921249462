"""The client of Redis, against a server that sends prepared replies."""

from __future__ import annotations

import socket
from pathlib import Path
from threading import Thread

import pytest

from bench.suite.redis import talk
from bench.support.errors import BenchError


class FakeServer:
    """Listens in the working directory, sends each connection the next reply, and closes it."""

    def __init__(self, replies: list[bytes]) -> None:
        self.received: list[bytes] = []
        self._replies = replies
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind("redis.sock")
        self._socket.listen()
        self._socket.settimeout(20)
        self.thread = Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        with self._socket:
            for reply in self._replies:
                connection, _ = self._socket.accept()
                with connection:
                    self.received.append(connection.recv(1 << 20))
                    connection.sendall(reply)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose path is too long for a socket, with commands in its parent."""
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    (tmp_path / "commands").write_bytes(b"*1\r\n$4\r\nQUIT\r\n")
    monkeypatch.chdir(directory)
    return directory


def test_all_replies_are_returned_and_the_server_is_shut_down(server: Path) -> None:
    fake = FakeServer([b"+OK\r\n:7\r\n", b""])
    assert talk(server, server.parent, lambda: True) == b"+OK\r\n:7\r\n"
    fake.thread.join(20)
    assert fake.received == [b"*1\r\n$4\r\nQUIT\r\n", b"SHUTDOWN NOSAVE\r\n"]


def test_a_server_that_refuses_to_shut_down_is_reported(server: Path) -> None:
    FakeServer([b"+OK\r\n", b"-ERR Errors trying to SHUTDOWN\r\n"])
    with pytest.raises(BenchError, match="redis does not shut down: -ERR Errors trying to SHUTDOWN"):
        talk(server, server.parent, lambda: True)


def test_the_client_does_not_wait_for_a_server_that_has_ended(server: Path) -> None:
    with pytest.raises(BenchError, match=r"redis does not listen; see .*/log"):
        talk(server, server.parent, lambda: False)
