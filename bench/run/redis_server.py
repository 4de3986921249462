"""A server under load: start it, talk to it, drive it, end it in one way or another."""

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
_PATIENCE = 60.0
TESTS = "set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset"
"""What the load is made of: the names that redis-benchmark gives to commands."""


@dataclass(frozen=True)
class Load:
    """What a load came to: requests, the seconds they took, the server's processor time meanwhile."""

    requests: int
    seconds: float
    processor: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def cost(self) -> float:
        """Microseconds of the server's processor time for each request."""
        return 1e6 * self.processor / self.requests


class Server:
    """A running Redis in a directory of its own; used in a ``with``, it is gone afterwards."""

    def __init__(
        self, program: Path, directory: Path, options: Sequence[str], under: Sequence[str] = ()
    ) -> None:
        """Start it on some free port of the loopback device, and wait until it answers."""
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
        self._wait_for_answer()

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

    def ask(self, *words: str) -> str:
        """One command and the text of its answer, errors included; nested answers are not needed here."""
        with socket.create_connection((_HOST, self.port), timeout=_PATIENCE) as connection:
            parts = [f"*{len(words)}\r\n", *(f"${len(word.encode())}\r\n{word}\r\n" for word in words)]
            connection.sendall("".join(parts).encode())
            with connection.makefile("rb") as stream:
                head = stream.readline()
                if not head.endswith(b"\r\n"):
                    raise ConnectionError("no answer")
                if head[:1] == b"$" and int(head[1:]) >= 0:
                    return stream.read(int(head[1:])).decode(errors="replace")
                return head[1:].strip().decode(errors="replace")

    def told(self, section: str) -> dict[str, str]:
        """What it says about itself."""
        lines = self.ask("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def load(self, driver: Path, requests: int, tests: str = TESTS) -> Load:
        """Drive it with so many requests of each kind, and measure."""
        before = self._processor_seconds()
        done = subprocess.run(
            self.driving(driver, requests, tests), capture_output=True, text=True, check=False, timeout=1200
        )
        spent = self._processor_seconds() - before
        rates = [float(row["rps"]) for row in csv.DictReader(done.stdout.splitlines())]
        if done.returncode != 0 or not rates:
            raise BenchError(f"{driver} failed: {(done.stderr or done.stdout).strip()[-200:]}")
        return Load(requests * len(rates), sum(requests / rate for rate in rates), spent)

    def driving(self, driver: Path, requests: int, tests: str = TESTS) -> list[str]:
        """The command that drives it: 50 connections, 16 requests under way on each."""
        address = ["-h", _HOST, "-p", str(self.port)]
        size = ["-c", "50", "-P", "16", "-n", str(requests), "-r", "10000"]
        return [str(driver), *address, *size, "-t", tests, "--csv"]

    def wait_until(self, section: str, field: str, value: str) -> None:
        """Wait until it says that of itself."""
        deadline = time.monotonic() + _PATIENCE
        while (said := self.told(section).get(field)) != value:
            if time.monotonic() > deadline:
                raise BenchError(
                    f"redis still says {field} {said}, not {value}; see {self.directory / 'log'}"
                )
            time.sleep(0.05)

    def shut_down(self) -> int:
        """Let it end by itself."""
        self._send("SHUTDOWN", "NOSAVE")
        return self._process.wait(_PATIENCE)

    def crash(self, how: str) -> int:
        """Let it fall: ``SEGFAULT`` or ``PANIC``."""
        self._send("DEBUG", how)
        return self._process.wait(_PATIENCE)

    def kill(self) -> int:
        """SIGKILL, which nobody can handle."""
        self._process.send_signal(signal.SIGKILL)
        return self._process.wait(_PATIENCE)

    def _send(self, *words: str) -> None:
        try:
            answer = self.ask(*words)
        except ConnectionError:
            return
        raise BenchError(f"redis does not end by {' '.join(words)}: {answer}")

    def _wait_for_answer(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                if self.ask("PING") == "PONG":
                    return
            except OSError:
                pass
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__(None, None, None)
                raise BenchError(f"redis did not start; see {self.directory / 'log'}")
            time.sleep(0.02)

    def _processor_seconds(self) -> float:
        said = self.told("cpu")
        return float(said["used_cpu_user"]) + float(said["used_cpu_sys"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
    return port
