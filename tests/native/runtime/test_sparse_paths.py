"""Sums that are kept by number: exact with threads, signal handlers, forks and libraries that come and go."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.byhand import Raw, Run, Toolbox, start


def told(run: Run) -> dict[tuple[int, int], int]:
    said = [tuple(map(int, line.split())) for line in run.output]
    assert len({line[:2] for line in said}) == len(said)
    return {(key, value): amount for key, value, amount in said}


def noted(raw: Raw, letter: str) -> dict[tuple[int, int], int]:
    (unit,) = [number for number, (name, _, _) in enumerate(raw.units) if name == letter]
    return {(key, value): amount for (owner, key, value), amount in raw.notes.items() if owner == unit}


@pytest.mark.parametrize("mode", ["single", "many", "join", "running", "signals"])
def test_notes_are_exact(toolbox: Toolbox, tmp_path: Path, mode: str) -> None:
    run = start(toolbox.build("notes", "notes.c"), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags) == (0, "", 1)
    assert noted(raw, "n") == told(run)
    assert raw.counts("n") == (1,)


@pytest.mark.parametrize("mode", ["many", "join", "signals"])
def test_notes_of_a_static_program(static_toolbox: Toolbox, tmp_path: Path, mode: str) -> None:
    run = start(static_toolbox.build("notes", "notes.c"), mode, cwd=tmp_path)
    assert noted(Raw.read(run.raw), "n") == told(run)


def test_a_forked_child_notes_from_zero(toolbox: Toolbox, tmp_path: Path) -> None:
    run = start(toolbox.build("notes", "notes.c"), "fork", cwd=tmp_path)
    (child,) = [Raw.read(path) for path in tmp_path.iterdir() if path != run.raw]
    assert noted(Raw.read(run.raw), "n") == told(run)
    assert noted(child, "n") == {(1, 5): 3, (8, 8): 8}


@pytest.fixture(scope="session")
def libraries(toolbox: Toolbox) -> dict[str, str]:
    options = ["-shared", "-fPIC", "-DUNIT_FLAGS=0"]
    return {
        letter: str(toolbox.build(f"notes-{letter}.so", "note_library.c", *options, f"-DLETTER='{letter}'"))
        for letter in "xy"
    }


def test_notes_of_libraries_outlive_them(toolbox: Toolbox, tmp_path: Path, libraries: dict[str, str]) -> None:
    """x is loaded twice, and both times its notes count."""
    x, y = libraries["x"], libraries["y"]
    run = start(toolbox.build("notes", "notes.c"), "libraries", x, y, x, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors) == (0, "")
    assert noted(raw, "n") == told(run)
    assert noted(raw, "x") == {(1, value): 4 for value in range(1000)}
    assert noted(raw, "y") == {(1, value): 2 for value in range(1000)}
    assert (raw.counts("x"), raw.counts("y")) == ((2,), (1,))


@pytest.mark.parametrize("flags", ["TRODDEN_STATIC_TLS", "0"])
def test_unused_counters_take_no_memory(toolbox: Toolbox, tmp_path: Path, flags: str) -> None:
    """Of 32 MiB of counters in each of four threads a few pages are used."""
    run = start(toolbox.build(f"resident-{flags}", "resident.c", f"-DUNIT_FLAGS={flags}"), cwd=tmp_path)
    raw = Raw.read(run.raw)
    counts = raw.counts("r")
    used = {slot: counts[slot] for slot in range(len(counts)) if counts[slot]}
    slots = 4 << 20
    assert used == {0: 4, slots // 3: 4, slots // 2: 1, slots - 1: 4}
    assert len(run.output) == 3
    assert max(map(int, run.output)) < 8 * 1024
