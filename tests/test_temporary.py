"""Signals that end a command leave no temporary files, whenever they arrive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from tests.native.building import TRODDEN, environment
from trodden import temporary
from trodden.commands import main

if TYPE_CHECKING:
    from _typeshed import TraceFunction

_SOURCE = "int main(void) { return 0; }\n"
_COMPILER = """\
#!/bin/sh
# The compiler underneath, during which a signal arrives; the first calls are questions about the toolchain.
case " $* " in *" -c "*) kill -{number} $PPID; exec sleep 60 >/dev/null 2>&1;; esac
exec {python} -m ziglang cc "$@"
"""


@pytest.fixture(autouse=True)
def default_handlers() -> Iterator[None]:
    """As a command finds them: other tests of this process may have called something that handles signals."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _folders(tmp_path: Path) -> tuple[Path, Mapping[str, str]]:
    folder = tmp_path / "temporary"
    folder.mkdir(exist_ok=True)
    return folder, environment({"TMPDIR": str(folder)})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_build_that_a_signal_ends(tmp_path: Path, number: signal.Signals) -> None:
    folder, variables = _folders(tmp_path)
    (tmp_path / "one.c").write_text(_SOURCE)
    compiler = tmp_path / "clang"
    compiler.write_text(_COMPILER.format(number=number.value, python=sys.executable))
    compiler.chmod(0o755)
    done = subprocess.run(
        [*TRODDEN, "cc", f"--trodden-toolchain={compiler}", "-c", "one.c"],
        cwd=tmp_path,
        env=variables,
        check=False,
        capture_output=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert done.returncode == (130 if number == signal.SIGINT else -number), done.stderr
    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clang", "one.c", "temporary"]


def _command(folder: Path, steps: int) -> Callable[[list[str]], int]:
    """A command with temporary files, to which a signal is sent after so many steps."""

    def step(frame: FrameType, event: str, argument: object) -> TraceFunction:
        nonlocal steps
        steps -= 1
        if not steps:
            sys.settrace(None)
            os.kill(os.getpid(), signal.SIGTERM)
        return step

    def dispatch(arguments: list[str]) -> int:
        sys.settrace(step)
        with temporary.directory("trodden-", folder) as made:
            (made / "file").touch()
            handle, path = temporary.make_file("trodden-", str(folder))
            os.close(handle)
            temporary.remove(path)
        sys.settrace(None)
        return 0

    return dispatch


def test_a_signal_between_any_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for steps in range(1, 9999, 3):
        monkeypatch.setattr(main, "_dispatch", _command(tmp_path, steps))
        child = os.fork()
        if not child:
            os._exit(main.main([]))
        _, status = os.waitpid(child, 0)
        assert list(tmp_path.iterdir()) == [], steps
        if not status:
            break
        assert os.WTERMSIG(status) == signal.SIGTERM
    assert 20 < steps < 9000


def test_what_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with temporary.ended_by_signals():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_is_kept_is_not_removed(tmp_path: Path) -> None:
    kept, removed = temporary.make_directory("kept-", tmp_path), temporary.make_directory("other-", tmp_path)
    temporary.keep(kept)
    temporary.remove(removed)
    temporary.remove(removed)
    assert list(tmp_path.iterdir()) == [kept]
