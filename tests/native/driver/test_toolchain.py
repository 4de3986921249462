"""Finding a compiler, and the flags for the embedded one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from trodden.errors import CannotWrite, ToolchainMissing
from trodden.native.driver import toolchain
from trodden.native.driver.linking.link import link_command
from trodden.native.driver.runtime_build import find_runtime
from trodden.native.driver.toolchain import cache_dir, find_toolchain, plain_triple, target_in, without_target


@pytest.fixture
def fresh() -> Iterator[None]:
    """What is remembered within a process is forgotten before and after."""
    for known in (toolchain.cache_dir, toolchain._zig_cache):
        known.cache_clear()
    yield
    for known in (toolchain.cache_dir, toolchain._zig_cache):
        known.cache_clear()


def _script(path: Path, banner: str, status: int = 0) -> str:
    path.write_text(f"#!/bin/sh\necho '{banner}'\nexit {status}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("wanted", [None, "", "embedded"])
def test_the_embedded_one_is_the_default(wanted: str | None) -> None:
    assert find_toolchain(wanted).embedded


@pytest.mark.parametrize(
    ("banner", "message"),
    [
        ("clang version 23.0.1", "clang 23 writes IR that LLVM 22 cannot read"),
        ("gcc (GCC) 14.1", "is not a clang"),
    ],
)
def test_a_compiler_that_does_not_fit(tmp_path: Path, banner: str, message: str) -> None:
    path = _script(tmp_path / "compiler", banner)
    with pytest.raises(ToolchainMissing, match=message):
        find_toolchain(path)


def test_a_compiler_that_fails(tmp_path: Path) -> None:
    with pytest.raises(ToolchainMissing, match="cannot be run"):
        find_toolchain(_script(tmp_path / "compiler", "clang version 22.1.0", status=1))


def test_a_compiler_that_is_not_there() -> None:
    with pytest.raises(ToolchainMissing, match="no such compiler"):
        find_toolchain("no-such-clang")


def test_an_older_clang_leaves_code_generation_to_the_embedded_one(tmp_path: Path) -> None:
    path = _script(tmp_path / "clang", "Some clang version 17.0.6 (somewhere)")
    found = find_toolchain(path)
    assert found.compile(False, []) == [path]
    assert found.compile(True, []) == [path, "--driver-mode=g++"]
    assert link_command(found, True, ["a.o"]) == [path, "--driver-mode=g++", "a.o"]
    assert found.generate([])[: len(find_toolchain(None).generator)] == list(find_toolchain(None).generator)


def test_a_clang_of_the_same_version_does_everything(tmp_path: Path) -> None:
    path = _script(tmp_path / "clang", "clang version 22.1.8")
    assert find_toolchain(path).generate([]) == [path]


@pytest.mark.parametrize(
    ("triple", "plain"),
    [
        ("x86_64-unknown-linux6.18.44-gnu2.36.0", "x86_64-unknown-linux-gnu"),
        ("x86_64-unknown-linux5.10.0-gnux322.36.0", "x86_64-unknown-linux-gnux32"),
        ("arm-unknown-linux5.10.0-gnueabihf2.36.0", "arm-unknown-linux-gnueabihf"),
        ("x86_64-unknown-linux5.10.0-musl1.2.5", "x86_64-unknown-linux-musl"),
        ("aarch64-unknown-linux-musl", "aarch64-unknown-linux-musl"),
        ("aarch64-apple-macosx13.0.0-unknown", "aarch64-apple-macosx13.0.0-unknown"),
    ],
)
def test_triples(triple: str, plain: str) -> None:
    assert plain_triple(triple) == plain


@pytest.mark.parametrize(
    ("flags", "target", "rest"),
    [
        (["-O2"], None, ["-O2"]),
        (["-target", "a-b", "-O2"], "a-b", ["-O2"]),
        (["--target=a-b"], "a-b", []),
        (["-target", "a-b", "--target", "c-d", "-g"], "c-d", ["-g"]),
        (["-target"], None, []),
    ],
)
def test_targets(flags: list[str], target: str | None, rest: list[str]) -> None:
    assert target_in(flags) == target
    assert without_target(flags) == rest


def test_header_directories_exist_and_are_remembered() -> None:
    command = find_toolchain(None).compile(True, [])
    places = [command[i + 1] for i, word in enumerate(command) if word == "-idirafter"]
    assert places
    assert all(os.path.isdir(place) for place in places)
    assert list(cache_dir().glob("headers-*.json"))


def test_no_standard_headers_where_none_are_wanted() -> None:
    assert "-idirafter" not in find_toolchain(None).compile(False, ["-nostdinc"])


def test_an_unknown_target() -> None:
    with pytest.raises(ToolchainMissing, match="does not know the target nothing-at-all"):
        find_toolchain(None).compile(False, ["-target", "nothing-at-all"])


def test_its_environment_does_not_lead_back_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "trodden cc")
    assert "CC" not in find_toolchain(None).environment


@pytest.mark.usefixtures("fresh")
def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("not a directory")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TRODDEN_CACHE", str(occupied / "below"))
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(occupied))
    assert cache_dir() == tmp_path / f"trodden-cache-{os.getuid()}"
    other = Path(find_toolchain(None).environment["ZIG_GLOBAL_CACHE_DIR"])
    assert other == tmp_path / f"trodden-zig-{os.getuid()}"
    assert stat.S_IMODE(other.stat().st_mode) == 0o700


@pytest.mark.usefixtures("fresh")
def test_no_place_for_a_cache_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("not a directory")
    monkeypatch.setattr("tempfile.tempdir", str(occupied))
    monkeypatch.setenv("TRODDEN_CACHE", str(occupied / "below"))
    with pytest.raises(CannotWrite, match="TRODDEN_CACHE"):
        cache_dir()


@pytest.mark.usefixtures("fresh")
def test_the_runtime_is_built_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRODDEN_CACHE", str(tmp_path / "cache"))
    first = find_runtime(find_toolchain(None), None)
    made = [Path(word) for word in (*first.objects, first.padding, first.filled_padding)]
    times = [path.stat().st_mtime_ns for path in made]
    assert made
    assert find_runtime(find_toolchain(None), None) == first
    assert [path.stat().st_mtime_ns for path in made] == times
    assert {path.parent.parent for path in made} == {tmp_path / "cache"}
    assert not list((tmp_path / "cache").glob("building-*"))
