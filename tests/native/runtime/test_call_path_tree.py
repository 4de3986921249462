"""Trees of call paths: exact with threads, signal handlers, forks and libraries that come and go."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.native.byhand import Raw, Run, Toolbox, start

Paths = dict[str, tuple[int, bool]]


def told(run: Run) -> Paths:
    said = [line.split() for line in run.output]
    found = {words[0]: (int(words[1]), len(words) > 2) for words in said}
    assert len(found) == len(said)
    return found


def counted(raw: Raw) -> Paths:
    """The call paths of a raw file; functions of the program go by number, others by letter and number."""
    chains: list[list[str]] = []
    counts: Counter[str] = Counter()
    again: set[str] = set()
    for call in raw.calls:
        if call.unit is None:
            assert call.times == 0
            chains.append([])
            continue
        letter = raw.units[call.unit][0]
        name = f"{'' if letter == 'c' else letter}{call.function}"
        chain = [*chains[call.parent], name]
        if call.again:
            chain = chain[: chain.index(name) + 1]
            again.add(";".join(chain))
            assert call.times
        chains.append(chain)
        counts[";".join(chain)] += call.times
    return {chain: (count, chain in again) for chain, count in counts.items() if count}


@pytest.mark.parametrize("mode", ["single", "many", "join", "running"])
def test_call_paths_are_exact(toolbox: Toolbox, tmp_path: Path, mode: str) -> None:
    run = start(toolbox.build("contexts", "contexts.c"), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags) == (0, "", 1)
    assert counted(raw) == told(run)
    assert raw.counts("c") == (1,)


@pytest.mark.parametrize("mode", ["many", "join", "running"])
def test_call_paths_of_a_static_program(static_toolbox: Toolbox, tmp_path: Path, mode: str) -> None:
    run = start(static_toolbox.build("contexts", "contexts.c"), mode, cwd=tmp_path)
    assert counted(Raw.read(run.raw)) == told(run)


def test_nothing_is_lost_below_signal_handlers(toolbox: Toolbox, tmp_path: Path) -> None:
    """Where a handler came in nobody knows, but every call is counted once."""
    run = start(toolbox.build("contexts", "contexts.c"), "signals", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags) == (0, "", 1)
    totals: Counter[str] = Counter()
    for call in raw.calls:
        if call.unit is not None:
            totals[str(call.function)] += call.times
    assert totals == {name: count for name, (count, _) in told(run).items()}
    assert sum(call.unit is None for call in raw.calls) == 1


def test_trees_are_used_again(toolbox: Toolbox, tmp_path: Path) -> None:
    """Three hundred threads one after the other, of which ten run at a time."""
    run = start(toolbox.build("contexts", "contexts.c"), "join", cwd=tmp_path)
    assert sum(call.unit is None for call in Raw.read(run.raw).calls) < 100


def test_a_forked_child_counts_from_zero_where_it_is(toolbox: Toolbox, tmp_path: Path) -> None:
    run = start(toolbox.build("contexts", "contexts.c"), "fork", cwd=tmp_path)
    (child,) = [Raw.read(path) for path in tmp_path.iterdir() if path != run.raw]
    assert counted(Raw.read(run.raw)) == told(run)
    assert counted(child) == {
        "8;9;1": (3, True),
        "8;9;1;2": (2, False),
        "8;9;1;2;3": (2, False),
        "8;9;1;4": (2, False),
        "8;3": (1, False),
    }


@pytest.fixture(scope="session")
def libraries(toolbox: Toolbox) -> dict[str, str]:
    options = ["-shared", "-fPIC", "-DUNIT_FLAGS=0"]
    return {
        letter: str(
            toolbox.build(f"contexts-{letter}.so", "context_library.c", *options, f"-DLETTER='{letter}'")
        )
        for letter in "xy"
    }


def test_call_paths_of_libraries_outlive_them(
    toolbox: Toolbox, tmp_path: Path, libraries: dict[str, str]
) -> None:
    """x is loaded twice, perhaps where y was meanwhile; both times count, and the tree is one."""
    x, y = libraries["x"], libraries["y"]
    run = start(toolbox.build("contexts", "contexts.c"), "libraries", x, y, x, cwd=tmp_path)
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
