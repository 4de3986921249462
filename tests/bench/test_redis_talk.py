"""How Redis is talked to: against a stand-in that answers as it is told."""

from __future__ import annotations

import socket
from pathlib import Path
from threading import Thread

import pytest

from bench.suite.redis import talk
from bench.support.errors import BenchError


class StandIn:
    """Listens in the working directory, gives each connection the next reply, and closes it."""

    def __init__(self, replies: list[bytes]) -> None:
        self.heard: list[bytes] = []
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
                    self.heard.append(connection.recv(1 << 20))
                    connection.sendall(reply)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose name is longer than the name of a socket may be, with commands beside it."""
    directory = tmp_path / ("long" * 30)
    directory.mkdir()
    (tmp_path / "commands").write_bytes(b"*1\r\n$4\r\nQUIT\r\n")
    monkeypatch.chdir(directory)
    return directory


def test_all_replies_come_back_and_the_server_is_told_to_end(server: Path) -> None:
    stand_in = StandIn([b"+OK\r\n:7\r\n", b""])
    assert talk(server, server.parent, lambda: True) == b"+OK\r\n:7\r\n"
    stand_in.thread.join(20)
    assert stand_in.heard == [b"*1\r\n$4\r\nQUIT\r\n", b"SHUTDOWN NOSAVE\r\n"]


def test_a_server_that_refuses_to_end_is_told_of(server: Path) -> None:
    StandIn([b"+OK\r\n", b"-ERR Errors trying to SHUTDOWN\r\n"])
    with pytest.raises(BenchError, match="redis does not end: -ERR Errors trying to SHUTDOWN"):
        talk(server, server.parent, lambda: True)


def test_a_server_that_has_ended_is_not_waited_for(server: Path) -> None:
    with pytest.raises(BenchError, match=r"redis does not listen; see .*/log"):
        talk(server, server.parent, lambda: False)
