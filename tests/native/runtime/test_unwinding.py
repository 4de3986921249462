"""Functions that are left by unwinding, thread exit or a switch of stacks, against reference counts."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, environment, execute, must, trodden
from trodden.profile.call_paths import named_call_paths
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.store.trod import load

_ENTRY = re.compile(r"^(\d+):(\d+)=(\d+)$", re.MULTILINE)
_HIT = re.compile(r"^\s*HIT\(\);$")
_FLAGS = ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-pthread")
_MUSL = ("-target", "x86_64-linux-musl", "-static")
_OPTIONS = (
    ("-O0", ()),
    ("-O2", ()),
    ("-O0", ("--trodden-stage=early",)),
    ("-O2", ("--trodden-stage=early",)),
    ("-O0", ("--trodden-profile=paths", "--trodden-counters=checked")),
    ("-O2", ("--trodden-profile=paths", "--trodden-counters=checked")),
    ("-O2", ("--trodden-profile=paths", "--trodden-max-paths=none")),
    ("-O2", ("--trodden-call-paths=on",)),
)
LineCounts = dict[tuple[str, int], int]


def _reference(files: tuple[str, ...], output: str) -> LineCounts:
    """What a program prints; a line that it does not print has not run."""
    found = {
        (name, number): 0
        for name in files
        for number, text in enumerate((PROGRAMS / name).read_text().splitlines(), 1)
        if _HIT.match(text)
    }
    for file, line, count in _ENTRY.findall(output):
        found[files[int(file)], int(line)] = int(count)
    return found


def _counted(profile: Profile, reference: LineCounts) -> LineCounts:
    """How often the blocks ran that contain these lines."""
    counted = dict.fromkeys(reference, 0)
    for function in profile.functions.values():
        for block in function.blocks:
            lines = {(Path(function.files[ref.file].path).name, ref.line) for ref in block.lines}
            for line in lines & counted.keys():
                counted[line] += int(block.count)
    return counted


def _build(sources: tuple[str, ...], options: tuple[str, ...], directory: Path) -> None:
    """Compile C files as C, and link as C++ if there is a C++ file."""
    objects = []
    for source in sources:
        objects.append(Path(source).stem + ".o")
        must(_compiler(source), *options, "-c", PROGRAMS / source, "-o", objects[-1], cwd=directory)
    cxx = any(_compiler(source) == "c++" for source in sources)
    must("c++" if cxx else "cc", *options, *objects, "-o", "program", cwd=directory)


def _compiler(source: str) -> str:
    return "c++" if source.endswith(".cpp") else "cc"


def _run(status: int, directory: Path) -> tuple[str, Profile]:
    done = trodden("run", "-o", "program.trod", "./program", cwd=directory)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout, load(directory / "program.trod")


def _agrees(
    sources: tuple[str, ...],
    counted_files: tuple[str, ...],
    status: int,
    options: tuple[str, ...],
    directory: Path,
) -> Profile:
    _build(sources, (*options, *_FLAGS), directory)
    output, profile = _run(status, directory)
    reference = _reference(counted_files, output)
    counted = _counted(profile, reference)
    assert sum(reference.values()) >= 10
    assert {
        line: (counted[line], reference[line]) for line in reference if counted[line] != reference[line]
    } == {}
    assert {f.name: f.violations for f in profile.functions.values() if f.violations} == {}
    return profile


@pytest.mark.parametrize(("level", "options"), _OPTIONS)
@pytest.mark.parametrize("source", ["thread_exits.c", "thread_exits.cpp"])
def test_threads_that_exit_in_the_middle(
    source: str, level: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """By pthread_exit, or cancelled while they test for it, sleep or wait, at several depths.

    In C++ the embedded toolchain's unwinder is not the one by which glibc ends threads.
    """
    profile = _agrees((source,), ("thread_exits.h",), 12, (level, *options), tmp_path)
    assert profile.messages == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("options", [(), ("--trodden-profile=paths",)])
@pytest.mark.parametrize("source", ["thread_exits.c", "thread_exits.cpp"])
def test_threads_that_musl_ends(source: str, level: str, options: tuple[str, ...], tmp_path: Path) -> None:
    profile = _agrees((source,), ("thread_exits.h",), 12, (level, *options, *_MUSL), tmp_path)
    assert profile.messages == ()


@pytest.mark.parametrize("target", [(), _MUSL], ids=["glibc", "musl"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_the_first_thread_ends_before_the_process(
    level: str, target: tuple[str, ...], tmp_path: Path
) -> None:
    profile = _agrees(("main_thread_exits.c",), ("main_thread_exits.c",), 27, (level, *target), tmp_path)
    assert profile.messages == ()


@pytest.mark.parametrize(("level", "options"), _OPTIONS)
def test_threads_that_clean_up_before_they_end(level: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """glibc jumps into functions that called pthread_cleanup_push, and they continue there."""
    profile = _agrees(
        ("cancellation_cleanup.c",), ("cancellation_cleanup.c",), 89, (level, *options), tmp_path
    )
    assert profile.messages == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_cleaning_up_with_musl(level: str, tmp_path: Path) -> None:
    profile = _agrees(("cancellation_cleanup.c",), ("cancellation_cleanup.c",), 89, (level, *_MUSL), tmp_path)
    assert profile.messages == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_callers_of_what_was_cancelled_anywhere(level: str, tmp_path: Path) -> None:
    """The interrupted function is not at a call; all others are."""
    _agrees(("cancelled_anywhere.c",), ("cancelled_anywhere.c",), 41, (level,), tmp_path)


@pytest.mark.parametrize(("level", "options"), _OPTIONS)
def test_exceptions_through_c(level: str, options: tuple[str, ...], tmp_path: Path) -> None:
    sources = ("exceptions_through_c.cpp", "exceptions_through_c_library.c")
    profile = _agrees(sources, sources, 140, (level, *options), tmp_path)
    assert profile.messages == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_exceptions_through_c_with_musl(level: str, tmp_path: Path) -> None:
    sources = ("exceptions_through_c.cpp", "exceptions_through_c_library.c")
    profile = _agrees(sources, sources, 140, (level, *_MUSL), tmp_path)
    assert profile.messages == ()


def test_exceptions_through_a_library_in_c(tmp_path: Path) -> None:
    """The library has no unwinder; that of the program gives the registers of its frames."""
    flags = ("-O1", *_FLAGS)
    must(
        "cc",
        *flags,
        "-fPIC",
        "-shared",
        PROGRAMS / "exceptions_through_c_library.c",
        "-o",
        "libbetween.so",
        cwd=tmp_path,
    )
    must(
        *(
            "c++",
            *flags,
            PROGRAMS / "exceptions_through_c.cpp",
            "libbetween.so",
            "-Wl,-rpath,$ORIGIN",
            "-o",
            "program",
        ),
        cwd=tmp_path,
    )
    output, profile = _run(140, tmp_path)
    reference = _reference(("exceptions_through_c.cpp", "exceptions_through_c_library.c"), output)
    assert _counted(profile, reference) == reference
    assert profile.messages == ()


def test_frames_without_unwinding_tables_stop_exceptions_as_before(tmp_path: Path) -> None:
    """IR from elsewhere may have functions that nothing can be thrown through."""
    (tmp_path / "bare.ll").write_text(
        'target triple = "x86_64-unknown-linux-gnu"\n'
        "declare i32 @puts(ptr)\n"
        "define i32 @bare(ptr %text) nounwind {\n"
        "  %got = call i32 @puts(ptr %text)\n"
        "  ret i32 %got\n"
        "}\n"
    )
    assert trodden("cc", "-S", "bare.ll", "-o", "bare.s", cwd=tmp_path).returncode == 0
    assert "__trodden_personality" not in (tmp_path / "bare.s").read_text()


@pytest.mark.parametrize(("level", "options"), _OPTIONS)
@pytest.mark.parametrize(("source", "status"), [("context_switches.c", 15), ("longjmp_switches.c", 15)])
def test_stacks_that_alternate(
    source: str, status: int, level: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Contexts that return, that wait when the process ends, and that were abandoned and overwritten."""
    profile = _agrees((source,), (source,), status, (level, *options), tmp_path)
    assert profile.messages == ()


def test_call_paths_on_several_stacks(tmp_path: Path) -> None:
    """A stack that is resumed continues at its node; a new one starts with its own first function."""
    profile = _agrees(
        ("context_switches.c",), ("context_switches.c",), 15, ("-O0", "--trodden-call-paths=on"), tmp_path
    )
    assert {path.functions for path in named_call_paths(profile)} == {
        ("print_line_counts",),
        ("main",),
        ("main", "again"),
        ("body",),
        ("body", "deep"),
        ("body", "deep", "give_way"),
    }


def test_a_program_ends_as_it_does_without_probes(tmp_path: Path) -> None:
    """An uncaught exception finds no handler in the runtime's personality routines."""
    (tmp_path / "lost.cpp").write_text("int main(int argc, char **) { if (argc) throw 1; return 0; }\n")
    must("c++", "lost.cpp", "-o", "lost", cwd=tmp_path)
    done = execute(["./lost"], tmp_path, environment({"TRODDEN_OUTPUT": str(tmp_path / "lost.raw")}))
    assert done.returncode == -6
    assert "terminating" in done.stderr


@pytest.mark.parametrize("word", [(), ("dies",)], ids=["exit", "signal"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("kind", [(), ("--trodden-profile=paths",)], ids=["edges", "paths"])
def test_an_exception_that_is_under_way_at_the_end(
    tmp_path: Path, kind: tuple[str, ...], level: str, word: tuple[str, ...]
) -> None:
    """The frames that the unwinder has passed are recorded, though they are still on the stack."""
    options = (*kind, "--trodden-counters=checked", "-pthread", "-w")
    must("c++", level, *options, PROGRAMS / "throw_under_way.cpp", "-o", "program", cwd=tmp_path)
    done = execute(["./program", *word], tmp_path, {"TRODDEN_FILE": str(tmp_path / "raw")})
    assert (done.returncode, done.stderr) == (-signal.SIGTERM if word else 0, "")
    profile = collect([tmp_path / "raw"])
    assert [message for message in profile.messages if "SIGTERM" not in message] == []
    functions = profile.functions
    assert {name: each.violations for name, each in functions.items() if each.violations} == {}
    entries = {name.partition("(")[0]: each.entries for name, each in functions.items()}
    assert [entries[name] for name in ("down", "inside", "around", "caught")] == [5 + 21 + 10, 1, 1, 2]
