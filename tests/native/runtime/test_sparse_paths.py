"""Sparse path tables: exact with threads, signal handlers, forks, and libraries that are unloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.handwritten import Raw, Run, RuntimeLinker, start


def expected(run: Run) -> dict[tuple[int, int], int]:
    printed = [tuple(map(int, line.split())) for line in run.output]
    assert len({line[:2] for line in printed}) == len(printed)
    return {(key, value): amount for key, value, amount in printed}


def counted(raw: Raw, letter: str) -> dict[tuple[int, int], int]:
    (unit,) = [number for number, (name, _, _) in enumerate(raw.units) if name == letter]
    return {(key, value): amount for (owner, key, value), amount in raw.sparse_paths.items() if owner == unit}


@pytest.mark.parametrize("mode", ["single", "many", "join", "running", "signals"])
def test_sparse_paths_are_exact(linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    run = start(linker.build("sparse_paths", "sparse_paths.c"), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags) == (0, "", 1)
    assert counted(raw, "n") == expected(run)
    assert raw.counts("n") == (1,)


@pytest.mark.parametrize("mode", ["many", "join", "signals"])
def test_sparse_paths_of_a_static_program(static_linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    run = start(static_linker.build("sparse_paths", "sparse_paths.c"), mode, cwd=tmp_path)
    assert counted(Raw.read(run.raw), "n") == expected(run)


def test_a_forked_child_counts_from_zero(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("sparse_paths", "sparse_paths.c"), "fork", cwd=tmp_path)
    (child,) = [Raw.read(path) for path in tmp_path.iterdir() if path != run.raw]
    assert counted(Raw.read(run.raw), "n") == expected(run)
    assert counted(child, "n") == {(1, 5): 3, (8, 8): 8}


@pytest.fixture(scope="session")
def libraries(linker: RuntimeLinker) -> dict[str, str]:
    options = ["-shared", "-fPIC", "-DUNIT_FLAGS=0"]
    return {
        letter: str(
            linker.build(f"sparse-{letter}.so", "sparse_paths_library.c", *options, f"-DLETTER='{letter}'")
        )
        for letter in "xy"
    }


def test_sparse_paths_of_libraries_outlive_them(
    linker: RuntimeLinker, tmp_path: Path, libraries: dict[str, str]
) -> None:
    """x is loaded twice, and both times count."""
    x, y = libraries["x"], libraries["y"]
    run = start(linker.build("sparse_paths", "sparse_paths.c"), "libraries", x, y, x, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors) == (0, "")
    assert counted(raw, "n") == expected(run)
    assert counted(raw, "x") == {(1, value): 4 for value in range(1000)}
    assert counted(raw, "y") == {(1, value): 2 for value in range(1000)}
    assert (raw.counts("x"), raw.counts("y")) == ((2,), (1,))


@pytest.mark.parametrize("flags", ["TRODDEN_STATIC_TLS", "0"])
def test_unused_counters_take_no_memory(linker: RuntimeLinker, tmp_path: Path, flags: str) -> None:
    """Of 32 MiB of counters in each of four threads a few pages are used."""
    run = start(linker.build(f"resident-{flags}", "resident.c", f"-DUNIT_FLAGS={flags}"), cwd=tmp_path)
    raw = Raw.read(run.raw)
    counts = raw.counts("r")
    used = {slot: counts[slot] for slot in range(len(counts)) if counts[slot]}
    slots = 4 << 20
    assert used == {0: 4, slots // 3: 4, slots // 2: 1, slots - 1: 4}
    assert len(run.output) == 3
    assert max(map(int, run.output)) < 8 * 1024
