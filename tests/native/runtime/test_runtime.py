"""The C runtime, driven by small programs with handwritten probes and reference counts."""

from __future__ import annotations

import os
import platform
import resource
import signal
import stat
from pathlib import Path

import pytest

from tests.native.handwritten import Raw, Run, RuntimeLinker, start


def printed(run: Run) -> tuple[int, ...]:
    return tuple(map(int, run.output[0].split()))


@pytest.mark.parametrize("mode", ["single", "join", "running"])
def test_threads_are_counted_exactly(linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    program = linker.build("threads", "threads.c")
    run = start(program, mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors) == (7, "")
    assert raw.counts("t") == printed(run)
    assert raw.modules[0][1] == str(program)
    assert (raw.flags, raw.parent, raw.fork_frames) == (1, os.getpid(), [])
    # Those that still run are found where they wait.
    assert sorted(frame.thread for frame in raw.frames) == ([1, 2, 3] if mode == "running" else [])
    assert len({frame.address for frame in raw.frames}) <= 1
    assert os.listdir(tmp_path) == ["out.raw"]


@pytest.mark.parametrize("mode", ["single", "join", "running"])
def test_counters_that_share_pages_with_other_variables(
    linker: RuntimeLinker, tmp_path: Path, mode: str
) -> None:
    """They are added up thread by thread, and the other variables stay unchanged."""
    run = start(linker.build("threads-folded", "threads.c", padding=False), mode, cwd=tmp_path)
    assert (run.status, run.errors) == (7, "")
    assert Raw.read(run.raw).counts("t") == printed(run)


def test_running_threads_in_dynamic_tls_are_found_too(linker: RuntimeLinker, tmp_path: Path) -> None:
    program = linker.build("threads-dynamic", "threads.c", "-DUNIT_FLAGS=0")
    run = start(program, "running", cwd=tmp_path)
    assert Raw.read(run.raw).counts("t") == printed(run)


@pytest.mark.parametrize("mode", ["single", "join", "running"])
def test_threads_in_a_static_program(static_linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    run = start(static_linker.build("threads", "threads.c"), mode, cwd=tmp_path)
    assert (run.status, run.errors) == (7, "")
    assert Raw.read(run.raw).counts("t") == printed(run)


def check_frames(run: Run, raw: Raw, extra: int = 0) -> None:
    """`first`, `second`, `third` print where they return to, then `the_end` where it is and returns to.

    The thread that ended the process is the first.
    """
    *callers, end, back = (int(line, 16) for line in run.output)
    frames = [frame for frame in raw.frames if frame.thread == raw.frames[0].thread]
    assert frames == raw.frames[: len(frames)]
    innermost, *others = raw.addresses()[: len(frames)]
    assert end < innermost <= end + 1024
    assert others[0] == back
    assert others[1 + extra :] == callers[::-1]


@pytest.mark.parametrize(
    ("mode", "status", "flags"),
    [("exit", 3, 1), ("_exit", 3, 1), ("_Exit", 3, 1), ("quick_exit", 3, 1), ("dump", -signal.SIGKILL, 0)],
)
def test_frames_active_at_the_end(
    linker: RuntimeLinker, tmp_path: Path, mode: str, status: int, flags: int
) -> None:
    run = start(linker.build("frames", "frames.c"), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, raw.flags, raw.counts("f")) == (status, flags, (1, 0))
    assert len(raw.frames) == 5
    assert {frame.thread for frame in raw.frames} == {0}
    check_frames(run, raw)


def test_frames_of_a_program_without_frame_pointers(linker: RuntimeLinker, tmp_path: Path) -> None:
    program = linker.build("frames-lean", "frames.c", "-O2", "-fomit-frame-pointer", "-fPIE", "-pie")
    run = start(program, "exit", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert raw.modules[0][0] != 0
    check_frames(run, raw)


def test_a_walk_that_gets_stuck_is_reported(linker: RuntimeLinker, tmp_path: Path) -> None:
    program = linker.build(
        "frames-blind", "frames.c", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"
    )
    run = start(program, "exit", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, raw.flags, raw.counts("f"), len(raw.frames)) == (3, 3, (1, 0), 1)


def test_frames_of_a_thread_that_ends_the_process(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("frames", "frames.c"), "thread", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert run.status == 3
    assert raw.flags == 1
    threads = [frame.thread for frame in raw.frames]
    # main waits for it, if it has returned from the interposer of pthread_create by then
    assert threads.count(0) in (1, 2)
    assert threads == sorted(threads, reverse=True)
    check_frames(run, raw)


@pytest.mark.parametrize("mode", ["signal", "signal-stack"])
def test_frames_across_a_signal_handler(linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    run = start(linker.build("frames", "frames.c"), mode, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, raw.flags) == (3, 1)
    check_frames(run, raw, extra=2)  # the handler returns to its gate, `third` from raise


def test_no_frame_is_active_when_main_has_returned(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("frames", "frames.c"), "return", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, raw.flags, raw.frames) == (3, 1, [])


def test_frames_of_a_deep_recursion(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("frames", "frames.c"), "deep", "30000", cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert run.status == 3
    assert len(raw.frames) == 30002
    assert len(set(raw.frames)) == 3


@pytest.mark.parametrize("mode", ["exit", "_exit", "quick_exit", "signal", "signal-stack"])
def test_frames_in_a_static_program(static_linker: RuntimeLinker, tmp_path: Path, mode: str) -> None:
    """There the C library's frames lie in the same module: the program's own are among them, in order."""
    run = start(static_linker.build("frames", "frames.c"), mode, cwd=tmp_path)
    *callers, _, back = (int(line, 16) for line in run.output)
    expected = [back, *callers[::-1]]
    raw = Raw.read(run.raw)
    assert raw.flags == 1
    assert [address for address in raw.addresses() if address in expected] == expected


def test_a_forked_child_counts_from_zero(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("forks", "forks.c"), cwd=tmp_path)
    pid, address = run.output[0].split()
    parent, child = Raw.read(run.raw), Raw.read(tmp_path / f"out.{pid}.raw")
    assert run.status == 21
    assert (parent.counts("k"), child.counts("k")) == ((7, 1, 70), (0, 3, 30))
    assert (child.pid, child.parent) == (int(pid), parent.pid)
    assert parent.start < child.start
    assert set(os.listdir(tmp_path)) == {"out.raw", f"out.{pid}.raw"}
    # It started in the middle of `split`, called by main; at its end only main was active.
    assert parent.fork_frames == []
    assert len(child.fork_frames) == 2
    assert child.fork_frames[1].address + child.modules[0][0] == int(address, 16)
    assert len(child.frames) == 1


def test_children_by_pattern(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("forks", "forks.c"), cwd=tmp_path, file="out.%p.raw")
    results = {raw.pid: raw.counts("k") for raw in map(Raw.read, tmp_path.iterdir())}
    child = int(run.output[0].split()[0])
    assert results.pop(child) == (0, 3, 30)
    assert list(results.values()) == [(7, 1, 70)]
    assert (tmp_path / f"out.{child}.raw").exists()


@pytest.fixture(scope="session")
def libraries(linker: RuntimeLinker) -> dict[str, Path]:
    options = ["-shared", "-fPIC", "-DUNIT_FLAGS=0"]
    return {
        letter: linker.build(f"lib{letter}.so", "library.c", *options, f"-DLETTER='{letter}'")
        for letter in "pql"
    }


def test_shared_libraries_report_to_the_program(
    linker: RuntimeLinker, tmp_path: Path, libraries: dict[str, Path]
) -> None:
    link = [
        f"-L{linker.directory}",
        "-ll",
        f"-Wl,-rpath,{linker.directory}",
        "-DWITH_UNIT",
        "-DWITH_LINKED",
    ]
    host = linker.build("host", "host.c", *link)
    plugin, other = str(libraries["p"]), str(libraries["q"])
    # p is loaded, unloaded and loaded again; q stays.
    run = start(host, plugin, other, plugin, cwd=tmp_path)
    raw = Raw.read(run.raw)
    assert (run.status, run.errors, os.listdir(tmp_path)) == (0, "", ["out.raw"])
    assert sorted(path for _, path in raw.modules) == sorted([str(host), str(libraries["l"]), plugin, other])
    assert raw.counts("h") == (1,)
    assert raw.counts("l") == (4, 1, 1)
    assert raw.counts("p") == (10 + 100 + 7 + 10 + 7, 2, 2)
    assert raw.counts("q") == (17, 1, 1)


def test_plugins_of_a_plain_program_lead_themselves(
    linker: RuntimeLinker, tmp_path: Path, libraries: dict[str, Path]
) -> None:
    host = linker.build("plain-host", "host.c", runtime=False)
    run = start(host, str(libraries["p"]), str(libraries["q"]), cwd=tmp_path)
    assert (run.status, run.errors) == (0, "")
    assert Raw.read(run.raw).counts("p") == (10, 1, 1)
    assert Raw.read(tmp_path / "out.1.raw").counts("q") == (10, 1, 1)
    # A later process replaces both.
    start(host, str(libraries["q"]), cwd=tmp_path)
    assert Raw.read(run.raw).counts("q") == (10, 1, 1)


def test_counters_do_not_use_up_small_stacks(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("small_stacks", "small_stacks.c"), cwd=tmp_path)
    counts = Raw.read(run.raw).counts("s")
    assert printed(run) == (0, 0, 0, 1)
    assert (counts[0], counts[-1], sum(counts)) == (3, 3, 6)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (None, "trodden.{pid}.raw"),
        ("", "trodden.{pid}.raw"),
        ("x%%y.raw", "x%y.raw"),
        ("%h-%p-%p.raw", "{host}-{pid}-{pid}.raw"),
        ("odd%z%", "odd%z%"),
    ],
)
def test_name_of_the_output_file(
    linker: RuntimeLinker, tmp_path: Path, pattern: str | None, name: str
) -> None:
    """It is determined at the start, whatever the program does to its directory and environment."""
    run = start(linker.build("simple", "simple.c"), "/", cwd=tmp_path, file=pattern)
    assert (run.status, len(run.output)) == (9, 1)
    expected = name.format(pid=run.output[0], host=platform.node())
    assert os.listdir(tmp_path) == [expected]
    assert Raw.read(tmp_path / expected).counts("a") == (0, 3, 1)


def test_an_existing_file_is_replaced(linker: RuntimeLinker, tmp_path: Path) -> None:
    (tmp_path / "out.raw").write_bytes(b"old" * 1000)
    run = start(linker.build("simple", "simple.c"), cwd=tmp_path)
    assert Raw.read(run.raw).counts("a") == (0, 3, 1)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("/dev/full", "no space left on the device"),
        ("/proc/missing/out.raw", "no such directory"),
        ("here/out.raw", "a part of the path is not a directory"),
        ("folder", "it is a directory"),
        ("x" * 5000, "the name is too long"),
    ],
)
def test_a_failure_to_write_is_reported_once(
    linker: RuntimeLinker, tmp_path: Path, output: str, reason: str
) -> None:
    (tmp_path / "here").touch()
    (tmp_path / "folder").mkdir()
    run = start(linker.build("simple", "simple.c"), cwd=tmp_path, file=output)
    path = tmp_path / output
    assert (run.status, len(run.output)) == (9, 1)
    expected = f"trodden: cannot write {str(path)[:4000]}"
    assert run.errors.startswith(expected)
    assert run.errors.endswith(f": {reason}; set TRODDEN_FILE to a writable path\n")
    assert run.errors.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["folder", "here"]


def test_an_unwritable_directory(linker: RuntimeLinker, tmp_path: Path) -> None:
    """/proc takes no new files."""
    run = start(linker.build("simple", "simple.c"), cwd=tmp_path, file="/proc/out.raw")
    assert (run.status, run.errors.count("\n")) == (9, 1)
    assert run.errors.startswith("trodden: cannot write /proc/out.raw: ")


def test_a_size_limit_does_not_kill(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(
        linker.build("simple", "simple.c"),
        cwd=tmp_path,
        prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)),
    )
    assert run.status == 9
    assert run.errors.endswith(
        ": the file would exceed the size limit; set TRODDEN_FILE to a writable path\n"
    )
    assert os.listdir(tmp_path) == []


def test_a_device_is_not_replaced(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("simple", "simple.c"), cwd=tmp_path, file="/dev/null")
    assert (run.status, run.errors) == (9, "")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_program_without_units_writes_nothing(linker: RuntimeLinker, tmp_path: Path) -> None:
    run = start(linker.build("unitless", "host.c"), cwd=tmp_path)
    assert (run.status, run.errors, os.listdir(tmp_path)) == (0, "", [])
