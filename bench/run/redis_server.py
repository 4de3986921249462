"""A running Redis: started, queried, put under load by redis-benchmark, and ended in several manners."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from bench.support.errors import BenchError

_HOST = "127.0.0.1"
_TIMEOUT = 60.0
TESTS = "set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset"
"""The commands that the load consists of, by the names of redis-benchmark."""


@dataclass(frozen=True)
class Load:
    """A load: its requests, the seconds that they took, and the processor time of the server."""

    requests: int
    seconds: float
    processor: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    @property
    def cost(self) -> float:
        """Microseconds of the server's processor time per request."""
        return 1e6 * self.processor / self.requests


class Server:
    """A running Redis in a directory of its own; as a context manager, it is killed at the end."""

    def __init__(
        self, program: Path, directory: Path, options: Sequence[str], under: Sequence[str] = ()
    ) -> None:
        """Start it on a free port of the loopback device, and wait until it answers."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self.directory = directory
        self.port = _free_port()
        address = ["--bind", _HOST, "--port", str(self.port)]
        command = [*under, str(program), *address, "--dir", str(directory), "--logfile", "log", *options]
        profiles = {
            "TRODDEN_FILE": str(directory / "counts.%p.raw"),
            "LLVM_PROFILE_FILE": str(directory / "counts.%p.profraw"),
        }
        with (directory / "stderr").open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, **profiles},
            )
        self._wait_for_reply()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.kill()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def command(self, *words: str) -> str:
        """The reply to one command as text, errors included; nested replies are not supported."""
        with socket.create_connection((_HOST, self.port), timeout=_TIMEOUT) as connection:
            parts = [f"*{len(words)}\r\n", *(f"${len(word.encode())}\r\n{word}\r\n" for word in words)]
            connection.sendall("".join(parts).encode())
            with connection.makefile("rb") as stream:
                head = stream.readline()
                if not head.endswith(b"\r\n"):
                    raise ConnectionError("no reply")
                if head[:1] == b"$" and int(head[1:]) >= 0:
                    return stream.read(int(head[1:])).decode(errors="replace")
                return head[1:].strip().decode(errors="replace")

    def info(self, section: str) -> dict[str, str]:
        """A section of its own statistics."""
        lines = self.command("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def load(self, generator: Path, requests: int) -> Load:
        """Send so many requests of each kind, and measure."""
        before = self._processor_seconds()
        done = subprocess.run(
            self.load_command(generator, requests),
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )
        spent = self._processor_seconds() - before
        rates = [float(row["rps"]) for row in csv.DictReader(done.stdout.splitlines())]
        if done.returncode != 0 or not rates:
            raise BenchError(f"{generator} failed: {(done.stderr or done.stdout).strip()[-200:]}")
        return Load(requests * len(rates), sum(requests / rate for rate in rates), spent)

    def load_command(self, generator: Path, requests: int) -> list[str]:
        """The command that sends the load: 50 connections with 16 requests in flight on each."""
        address = ["-h", _HOST, "-p", str(self.port)]
        size = ["-c", "50", "-P", "16", "-n", str(requests), "-r", "10000"]
        return [str(generator), *address, *size, "-t", TESTS, "--csv"]

    def wait_until(self, section: str, field: str, value: str) -> None:
        """Wait until a field of its statistics has a value."""
        deadline = time.monotonic() + _TIMEOUT
        while (found := self.info(section).get(field)) != value:
            if time.monotonic() > deadline:
                raise BenchError(
                    f"redis still reports {field} {found}, not {value}; see {self.directory / 'log'}"
                )
            time.sleep(0.05)

    def shut_down(self) -> int:
        """Let it shut down."""
        self._send("SHUTDOWN", "NOSAVE")
        return self._process.wait(_TIMEOUT)

    def crash(self, how: str) -> int:
        """Let it crash: ``SEGFAULT`` or ``PANIC``."""
        self._send("DEBUG", how)
        return self._process.wait(_TIMEOUT)

    def kill(self) -> int:
        """SIGKILL, which cannot be handled."""
        self._process.send_signal(signal.SIGKILL)
        return self._process.wait(_TIMEOUT)

    def _send(self, *words: str) -> None:
        try:
            reply = self.command(*words)
        except ConnectionError:
            return
        raise BenchError(f"redis does not end by {' '.join(words)}: {reply}")

    def _wait_for_reply(self) -> None:
        deadline = time.monotonic() + _TIMEOUT
        while True:
            try:
                if self.command("PING") == "PONG":
                    return
            except OSError:
                pass
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__(None, None, None)
                raise BenchError(f"redis did not start; see {self.directory / 'log'}")
            time.sleep(0.02)

    def _processor_seconds(self) -> float:
        used = self.info("cpu")
        return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
    return port
