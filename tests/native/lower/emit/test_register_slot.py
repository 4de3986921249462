"""The stack slots of path registers: found in the frames of active functions, whatever the frame layout."""

from __future__ import annotations

import platform
from collections import Counter
from pathlib import Path

import pytest

from tests.native.handwritten import Frame, Raw, Run, RuntimeLinker, start

SHAPES = {
    "O0": ["-O0"],
    "O1": ["-O1"],
    "O2": ["-O2", "-fomit-frame-pointer", "-mno-omit-leaf-frame-pointer"],
    "Os": ["-Os", "-fomit-frame-pointer"],
    "Oz": ["-Oz", "-fno-omit-frame-pointer"],
    "frames": ["-O2", "-fno-omit-frame-pointer"],
    "pie": ["-O2", "-fPIE", "-pie", "-fomit-frame-pointer"],
    "sections": ["-O2", "-ffunction-sections", "-Wl,--gc-sections"],
}
HAVE_SLOTS = platform.machine() == "x86_64"
"""On other machines path registers are not kept in stack slots."""
WITHOUT = 0
"""What a program prints for a function that has no slot."""


def build(tools: RuntimeLinker, source: str, shape: str) -> Path:
    return tools.build(f"{source}-{shape}", f"{source}.c", "-Wno-frame-address", *SHAPES[shape])


def printed_frames(run: Run, count: int | None = None) -> list[tuple[int, int | None]]:
    """The frames as the program itself printed them, innermost first."""
    lines = [tuple(int(word, 16) for word in line.split()) for line in run.output]
    return [(address, slot if HAVE_SLOTS and slot != WITHOUT else None) for address, slot in lines[:count]]


def recorded_frames(raw: Raw, frames: list[Frame]) -> list[tuple[int, int | None]]:
    return [(frame.address + raw.modules[frame.module][0], frame.slot) for frame in frames]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["exit", "_exit", "aligned", "last", "thread"])
def test_slots_of_active_functions(linker: RuntimeLinker, tmp_path: Path, mode: str, shape: str) -> None:
    run = start(build(linker, "register_slots", shape), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, raw.flags) == (3, 1)
    ending = raw.frames[0].thread
    frames = recorded_frames(raw, [frame for frame in raw.frames if frame.thread == ending])
    assert {frame.thread for frame in raw.frames} == ({0, 1} if mode == "thread" else {0})
    expected = printed_frames(run)
    assert len(expected) == 13 + (mode == "last")
    assert frames[0][1] is None  # the call of exit in a function without a slot
    assert frames[1 : 1 + len(expected)] == expected
    assert len(frames) == len(expected) + 1


@pytest.mark.parametrize("shape", SHAPES)
def test_slots_in_a_static_program(static_linker: RuntimeLinker, tmp_path: Path, shape: str) -> None:
    if shape == "pie":
        shape = "O2"
    run = start(build(static_linker, "register_slots", shape), cwd=tmp_path)
    raw = Raw.read(run.raw)
    frames, expected = recorded_frames(raw, raw.frames), printed_frames(run)
    first = frames.index(expected[0])
    assert frames[first : first + len(expected)] == expected


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["raise", "trap"])
def test_slots_below_a_signal(linker: RuntimeLinker, tmp_path: Path, mode: str, shape: str) -> None:
    """A function that was interrupted at an instruction of its own has its slot too."""
    run = start(build(linker, "register_slots", shape), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    frames, expected = recorded_frames(raw, raw.frames), printed_frames(run)
    if mode == "trap":
        (begin, slot), *expected = expected
        address, interrupted = frames[-1 - len(expected)]
        assert (interrupted, begin < address < begin + 1024) == (slot, True)
    assert frames[-len(expected) :] == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_slots_of_a_forked_child(linker: RuntimeLinker, tmp_path: Path, shape: str) -> None:
    run = start(build(linker, "register_slots", shape), "fork", cwd=tmp_path)
    expected = printed_frames(run, len(run.output) // 2)
    (child,) = [Raw.read(path) for path in tmp_path.iterdir() if path != run.raw]
    assert recorded_frames(child, child.fork_frames)[1:] == expected
    assert recorded_frames(child, child.frames)[1:] == expected


def check_jumps(run: Run, rounds: int) -> None:
    raw = Raw.read(run.raw)
    bias = raw.modules[0][0]
    jumps = {(jump.address + bias, jump.slot): jump.times for jump in raw.exits}
    expected = Counter[tuple[int, int | None]]()
    for line in run.output:
        address, slot, count = line.split()
        expected[int(address, 16), int(slot, 16) if HAVE_SLOTS else None] += int(count)
    others = sorted(count for key, count in jumps.items() if key not in expected)
    assert (run.status, raw.flags) == (0, 1)
    assert {key: jumps.get(key) for key in expected} == expected
    assert others == [-rounds, rounds]  # where setjmp returned, and the innermost function


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("rounds", "threads", "distinct"), [(1000, 1, 7), (20000, 1, 20000), (5000, 4, 50), (2000, 16, 997)]
)
def test_jumps_over_functions_with_slots(
    linker: RuntimeLinker, tmp_path: Path, shape: str, rounds: int, threads: int, distinct: int
) -> None:
    """The slots have few contents, or more than a table holds; one thread jumps, or several do."""
    program = build(linker, "slot_jumps", shape)
    run = start(program, str(rounds), str(threads), str(distinct), cwd=tmp_path)
    check_jumps(run, rounds * threads)


def test_jumps_over_functions_with_slots_in_a_static_program(
    static_linker: RuntimeLinker, tmp_path: Path
) -> None:
    run = start(build(static_linker, "slot_jumps", "O2"), "3000", "2", "3", cwd=tmp_path)
    check_jumps(run, 6000)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("sites", {7: 2401, 2401 * 7: 2, -2401 * 7: 1}),
        ("deep", {500 * 7: 1, 7: 3, -7: 1}),
        ("slots", {7: 1000, 7000: 2, -7000: 1} if HAVE_SLOTS else {7000: 3, -7000: 1}),
    ],
)
def test_jumps_over_known_frames_need_no_system_calls(
    linker: RuntimeLinker, tmp_path: Path, shape: str, mode: str, expected: dict[int, int]
) -> None:
    """However many call sites there are, however deep the stack is and whatever the slots hold."""
    run = start(build(linker, "repeated_jumps", shape), mode, "7", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags, run.output) == (0, "", 1, ["0"])
    assert Counter(jump.times for jump in raw.exits) == expected


@pytest.mark.parametrize("mode", ["sites", "deep", "slots"])
def test_jumps_over_known_frames_in_a_static_program(
    static_linker: RuntimeLinker, tmp_path: Path, mode: str
) -> None:
    run = start(build(static_linker, "repeated_jumps", "O2"), mode, "3", cwd=tmp_path)
    assert (run.status, Raw.read(run.raw).flags, run.output) == (0, 1, ["0"])


@pytest.mark.parametrize("mode", ["sites", "deep", "slots"])
def test_known_frames_are_counted_anew_in_a_forked_child(
    linker: RuntimeLinker, tmp_path: Path, mode: str
) -> None:
    run = start(build(linker, "repeated_jumps", "O2"), mode, "5", "3", cwd=tmp_path)
    (path,) = [path for path in tmp_path.iterdir() if path != run.raw]
    parent, child = Raw.read(run.raw), Raw.read(path)
    assert (run.status, parent.flags, child.flags) == (0, 1, 1)
    fifths = {(jump.address, jump.slot): jump.times / 5 for jump in parent.exits}
    thirds = {(jump.address, jump.slot): jump.times / 3 for jump in child.exits}
    assert thirds == fifths
    assert len(thirds) > 4


def test_threads_jump_while_a_library_is_loaded_and_unloaded(linker: RuntimeLinker, tmp_path: Path) -> None:
    """The frame cache is invalidated all the time while other threads use it."""
    options = ["-shared", "-fPIC", "-O2", "-DLETTER='x'", "-DUNIT_ALONE"]
    library = linker.build("foreign.so", "slot_library.c", *options, runtime=False)
    rounds, threads, times = 20000, 6, 300
    run = start(
        linker.build("restless", "jumps_while_loading.c", "-O2"),
        *(str(rounds), str(threads), str(times), str(library)),
        cwd=tmp_path,
    )
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags, len(raw.modules)) == (0, "", 1, 1)
    expected, found = Counter[int](), Counter[int]()
    for line in run.output:
        slot, count = line.split()
        expected[int(slot, 16)] += int(count)
    for jump in raw.exits:
        if jump.slot is not None:
            found[jump.slot] += jump.times
    assert found == (expected if HAVE_SLOTS else {})
    ours, mains = rounds * threads, 4 * times
    others = [ours + mains, ours, ours, -ours, mains, -mains] + ([] if HAVE_SLOTS else [ours])
    assert sorted(jump.times for jump in raw.exits if jump.slot is None) == sorted(others)


def test_slots_of_libraries_that_are_loaded_and_unloaded(linker: RuntimeLinker, tmp_path: Path) -> None:
    """One is loaded twice, at addresses that need not be the same."""
    options = ["-shared", "-fPIC", "-O2", "-DUNIT_FLAGS=0"]
    one, other = (
        str(linker.build(f"slots-{letter}.so", "slot_library.c", *options, f"-DLETTER='{letter}'"))
        for letter in "vw"
    )
    run = start(linker.build("slot-host", "slot_host.c", "-O2"), one, other, one, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, raw.flags) == (6, "", 1)
    assert (raw.counts("v"), raw.counts("w")) == ((601,), (300,))
    paths = [path for _, path in raw.modules]
    last = [frame.slot for frame in raw.frames if frame.module == paths.index(one)]
    assert last == [4711 if HAVE_SLOTS else None]
    for path, times in ((one, 200), (other, 100)):
        left = [jump for jump in raw.exits if jump.module == paths.index(path)]
        assert len({jump.address for jump in left}) == 1
        expected = dict.fromkeys(range(3), times) if HAVE_SLOTS else {None: 3 * times}
        assert {jump.slot: jump.times for jump in left} == expected
