"""What is said while something takes long: once, on standard error, and never without need."""

from __future__ import annotations

import io
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import trodden.waiting
from tests.profile.sample import sample
from trodden.api.builds import builder
from trodden.api.profiles import reading
from trodden.native.driver.linking.first_link import first_link
from trodden.native.driver.toolchain import find_toolchain
from trodden.profile.store.trod import save
from trodden.waiting import Quiet, quiet_unless_at_a_terminal, waiting


class Heard(io.StringIO):
    """A standard error that notices when something has been said, twice at a terminal."""

    def __init__(self, terminal: bool = False) -> None:
        super().__init__()
        self._terminal, self._said = terminal, threading.Semaphore(0)

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        self._said.release()
        return super().write(text)

    def wait(self, times: int = 1) -> None:
        for _ in range(times):
            assert self._said.acquire(timeout=60)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything takes long enough."""
    monkeypatch.setattr(trodden.waiting, "DELAY", 0)
    monkeypatch.delenv("TRODDEN_QUIET")
    monkeypatch.setattr(Quiet, "asked", False)
    yield
    assert Quiet.asked is False


def heard(monkeypatch: pytest.MonkeyPatch, terminal: bool = False) -> Heard:
    stream = Heard(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_one_line_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = heard(monkeypatch)
    with waiting("building this") as now:
        now("1 of 2")
        stream.wait()
    with waiting("no need", worth=False):
        pass
    assert stream.getvalue() == "trodden: building this\n"


def test_a_compiler_says_nothing_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = heard(monkeypatch)
    monkeypatch.setattr(Quiet, "asked", False)
    quiet_unless_at_a_terminal()
    with waiting("building this"):
        pass
    assert stream.getvalue() == ""
    monkeypatch.setattr(Quiet, "asked", False)
    stream = heard(monkeypatch, terminal=True)
    quiet_unless_at_a_terminal()
    with waiting("building this"):
        stream.wait()
    assert stream.getvalue().startswith("trodden: building this\n")


def test_nothing_if_a_variable_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = heard(monkeypatch)
    monkeypatch.setenv("TRODDEN_QUIET", "1")
    with waiting("building this"):
        pass
    assert stream.getvalue() == ""


def test_nothing_if_it_is_over_soon_or_silence_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = heard(monkeypatch)
    monkeypatch.setattr(Quiet, "asked", True)
    with waiting("building this"):
        pass
    monkeypatch.setattr(Quiet, "asked", False)
    monkeypatch.setattr(trodden.waiting, "DELAY", 3600)
    with waiting("building this"):
        pass
    assert stream.getvalue() == ""


def test_a_terminal_sees_the_seconds_and_no_trace_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = heard(monkeypatch, terminal=True)
    with waiting("building this") as now:
        now("2 of 3: x.c")
        stream.wait(2)
    first, line = stream.getvalue().split("\n", 1)
    assert first == "trodden: building this"
    *shown, cleared, end = line.split("\r")
    assert re.match(r"  \d+ s", shown[0])
    assert cleared.strip() == end == ""
    assert len(cleared) == max(map(len, shown))


def test_the_first_link_and_the_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for module in ("runtime_build", "linking.first_link"):
        monkeypatch.setattr(f"trodden.native.driver.{module}.cache_dir", lambda: tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.c").write_text(f"int {'main' if name == 'a' else name}(void) {{ return 0; }}\n")
    words = ["a.c", "b.c", "-o", "out"]
    for number in range(2):
        build = builder(words, False)
        build.watched = True
        assert build.run() == 0
        said = capfd.readouterr().err.splitlines()
        assert said[0] == "trodden: compiling 2 sources"
        rest = [
            "trodden: compiling the runtime for this machine with the embedded toolchain, once",
            "trodden: the first link of this kind: the embedded toolchain builds the start files of the C"
            " library, once",
        ]
        assert said[1:] == ([] if number else rest)
    assert builder(words, False).run() == 0
    assert capfd.readouterr().err == ""


def test_a_toolchain_in_another_place_builds_its_libraries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    @contextmanager
    def heard(what: str) -> Iterator[None]:
        said.append(what)
        yield

    monkeypatch.setattr("trodden.native.driver.linking.first_link.cache_dir", lambda: tmp_path)
    monkeypatch.setattr("trodden.native.driver.linking.first_link.waiting", heard)
    toolchain = find_toolchain("embedded")
    elsewhere = replace(toolchain, compiler=("/elsewhere/python", *toolchain.compiler[1:]))
    for each in (toolchain, toolchain, elsewhere, elsewhere):
        with first_link(each, True, ["-O2"]):
            pass
    assert len(said) == 2


def test_large_profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "x.trod")
    save(sample(str(tmp_path)), file)
    for large, said in ((1, f"trodden: reading {file}\n"), (1 << 30, "")):
        monkeypatch.setattr("trodden.api.profiles._LARGE", large)
        stream = heard(monkeypatch)
        with reading(file):
            if said:
                stream.wait()
        assert stream.getvalue() == said
