"""Call-path trees: exact with threads, signal handlers, forks, and libraries that are loaded and unloaded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.native.handwritten import Raw, Run, RuntimeLinker, start

Paths = dict[str, tuple[int, bool]]


def expected(run: Run) -> Paths:
    printed = [line.split() for line in run.output]
    found = {words[0]: (int(words[1]), len(words) > 2) for words in printed}
    assert len(found) == len(printed)
    return found


def counted(raw: Raw) -> Paths:
    """The call paths of a raw file; the program's functions are numbers, others a letter and a number."""
    paths: list[list[str]] = []
    counts: Counter[str] = Counter()
    recursive: set[str] = set()
    for call in raw.calls:
        if call.unit is None:
            assert call.times == 0
            paths.append([])
            continue
        letter = raw.units[call.unit][0]
        name = f"{'' if letter == 'c' else letter}{call.function}"
        path = [*paths[call.parent], name]
        if call.recursive:
            path = path[: path.index(name) + 1]
            recursive.add(";".join(path))
            assert call.times
        paths.append(path)
        counts[";".join(path)] += call.times
    return {path: (count, path in recursive) for path, count in counts.items() if count}


@pytest.mark.parametrize("mode", ["single", "many", "join", "running"])
def test_call_paths_are_exact(linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    run = start(linker.build("contexts", "call_path_probes.c"), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags) == (0, "", 1)
    assert counted(raw) == expected(run)
    assert raw.counts("c") == (1,)


@pytest.mark.parametrize("mode", ["many", "join", "running"])
def test_call_paths_of_a_static_program(static_linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    run = start(static_linker.build("contexts", "call_path_probes.c"), mode, cwd=tmp_path)
    assert counted(Raw.read(run.raw)) == expected(run)


def test_nothing_is_lost_below_signal_handlers(linker: RuntimeLinker, tmp_path: Path) -> None:
    """The node that a handler interrupts is not known, but every call is counted once."""
    run = start(linker.build("contexts", "call_path_probes.c"), "signals", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags) == (0, "", 1)
    totals: Counter[str] = Counter()
    for call in raw.calls:
        if call.unit is not None:
            totals[str(call.function)] += call.times
    assert totals == {name: count for name, (count, _) in expected(run).items()}
    assert sum(call.unit is None for call in raw.calls) == 1


def test_trees_are_reused(linker: RuntimeLinker, tmp_path: Path) -> None:
    """Three hundred threads, of which ten run at a time."""
    run = start(linker.build("contexts", "call_path_probes.c"), "join", cwd=tmp_path)
    assert sum(call.unit is None for call in Raw.read(run.raw).calls) < 100


def test_a_forked_child_counts_from_zero_where_it_is(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("contexts", "call_path_probes.c"), "fork", cwd=tmp_path)
    (child,) = [Raw.read(path) for path in tmp_path.iterdir() if path != run.raw]
    assert counted(Raw.read(run.raw)) == expected(run)
    assert counted(child) == {
        "8;9;1": (3, True),
        "8;9;1;2": (2, False),
        "8;9;1;2;3": (2, False),
        "8;9;1;4": (2, False),
        "8;3": (1, False),
    }


@pytest.fixture(scope="session")
def libraries(linker: RuntimeLinker) -> dict[str, str]:
    options = ["-shared", "-fPIC", "-DUNIT_FLAGS=0"]
    return {
        letter: str(
            linker.build(
                f"contexts-{letter}.so", "call_path_probes_library.c", *options, f"-DLETTER='{letter}'"
            )
        )
        for letter in "xy"
    }


def test_call_paths_of_libraries_outlive_them(
    linker: RuntimeLinker, tmp_path: Path, libraries: dict[str, str]
) -> None:
    """x is loaded twice, perhaps at the address of y; both times count in one tree."""
    x, y = libraries["x"], libraries["y"]
    run = start(linker.build("contexts", "call_path_probes.c"), "libraries", x, y, x, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors) == (0, "")
    assert counted(raw) == {
        "8": (1, False),
        "8;9": (3, False),
        "9": (1, False),
        "8;x1": (2, False),
        "8;x1;x2": (20, False),
        "8;y1": (1, False),
        "8;y1;y2": (10, False),
    }
