"""Functions that are left as something unwinds, ends their thread or switches stacks, against their books."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, environment, execute, must, trodden
from trodden.profile.call_paths import named_call_paths
from trodden.profile.model import Profile
from trodden.profile.store.trod import load

_ENTRY = re.compile(r"^(\d+):(\d+)=(\d+)$", re.MULTILINE)
_HIT = re.compile(r"^\s*HIT\(\);$")
_FLAGS = ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-pthread")
_MUSL = ("-target", "x86_64-linux-musl", "-static")
_WAYS = (
    ("-O0", ()),
    ("-O2", ()),
    ("-O0", ("--trodden-stage=early",)),
    ("-O2", ("--trodden-stage=early",)),
    ("-O0", ("--trodden-profile=paths", "--trodden-counters=checked")),
    ("-O2", ("--trodden-profile=paths", "--trodden-counters=checked")),
    ("-O2", ("--trodden-profile=paths", "--trodden-max-paths=none")),
    ("-O2", ("--trodden-call-paths=on",)),
)
Books = dict[tuple[str, int], int]


def _books(files: tuple[str, ...], output: str) -> Books:
    """What a program says of itself; a line that it says nothing of has not run."""
    found = {
        (name, number): 0
        for name in files
        for number, text in enumerate((PROGRAMS / name).read_text().splitlines(), 1)
        if _HIT.match(text)
    }
    for book, line, count in _ENTRY.findall(output):
        found[files[int(book)], int(line)] = int(count)
    return found


def _counted(profile: Profile, books: Books) -> Books:
    """How often the blocks ran that hold the lines of the books."""
    counted = dict.fromkeys(books, 0)
    for function in profile.functions.values():
        for block in function.blocks:
            lines = {(Path(function.files[ref.file].path).name, ref.line) for ref in block.lines}
            for place in lines & counted.keys():
                counted[place] += int(block.count)
    return counted


def _build(sources: tuple[str, ...], words: tuple[str, ...], directory: Path) -> None:
    """C files as C, and linked as C++ if there is a file of that."""
    objects = []
    for source in sources:
        objects.append(Path(source).stem + ".o")
        must(_compiler(source), *words, "-c", PROGRAMS / source, "-o", objects[-1], cwd=directory)
    cxx = any(_compiler(source) == "c++" for source in sources)
    must("c++" if cxx else "cc", *words, *objects, "-o", "program", cwd=directory)


def _compiler(source: str) -> str:
    return "c++" if source.endswith(".cpp") else "cc"


def _run(status: int, directory: Path) -> tuple[str, Profile]:
    done = trodden("run", "-o", "program.trod", "./program", cwd=directory)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout, load(directory / "program.trod")


def _agrees(
    sources: tuple[str, ...], books: tuple[str, ...], status: int, words: tuple[str, ...], directory: Path
) -> Profile:
    _build(sources, (*words, *_FLAGS), directory)
    output, profile = _run(status, directory)
    book = _books(books, output)
    counted = _counted(profile, book)
    assert sum(book.values()) >= 10
    assert {line: (counted[line], book[line]) for line in book if counted[line] != book[line]} == {}
    assert {f.name: f.violations for f in profile.functions.values() if f.violations} == {}
    return profile


@pytest.mark.parametrize(("level", "words"), _WAYS)
@pytest.mark.parametrize("source", ["ends_threads.c", "ends_threads.cpp"])
def test_threads_that_end_in_the_middle(
    source: str, level: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    """By pthread_exit, or cancelled while they test for it, sleep or wait, at several depths.

    In C++ the embedded toolchain's unwinder is not the one by which glibc ends threads.
    """
    profile = _agrees((source,), ("ends.h",), 12, (level, *words), tmp_path)
    assert profile.notes == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("words", [(), ("--trodden-profile=paths",)])
@pytest.mark.parametrize("source", ["ends_threads.c", "ends_threads.cpp"])
def test_threads_that_musl_ends(source: str, level: str, words: tuple[str, ...], tmp_path: Path) -> None:
    profile = _agrees((source,), ("ends.h",), 12, (level, *words, *_MUSL), tmp_path)
    assert profile.notes == ()


@pytest.mark.parametrize("target", [(), _MUSL], ids=["glibc", "musl"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_the_first_thread_ends_before_the_process(
    level: str, target: tuple[str, ...], tmp_path: Path
) -> None:
    profile = _agrees(("ends_main.c",), ("ends_main.c",), 27, (level, *target), tmp_path)
    assert profile.notes == ()


@pytest.mark.parametrize(("level", "words"), _WAYS)
def test_threads_that_clean_up_before_they_end(level: str, words: tuple[str, ...], tmp_path: Path) -> None:
    """glibc jumps into functions that called pthread_cleanup_push, and they go on from there."""
    profile = _agrees(("ends_cleanups.c",), ("ends_cleanups.c",), 89, (level, *words), tmp_path)
    assert profile.notes == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_cleaning_up_with_musl(level: str, tmp_path: Path) -> None:
    profile = _agrees(("ends_cleanups.c",), ("ends_cleanups.c",), 89, (level, *_MUSL), tmp_path)
    assert profile.notes == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_callers_of_what_was_cancelled_anywhere(level: str, tmp_path: Path) -> None:
    """The function that was interrupted is at no call; all others are."""
    _agrees(("ends_anywhere.c",), ("ends_anywhere.c",), 41, (level,), tmp_path)


@pytest.mark.parametrize(("level", "words"), _WAYS)
def test_exceptions_through_c(level: str, words: tuple[str, ...], tmp_path: Path) -> None:
    sources = ("passes.cpp", "passes_between.c")
    profile = _agrees(sources, sources, 140, (level, *words), tmp_path)
    assert profile.notes == ()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_exceptions_through_c_with_musl(level: str, tmp_path: Path) -> None:
    sources = ("passes.cpp", "passes_between.c")
    profile = _agrees(sources, sources, 140, (level, *_MUSL), tmp_path)
    assert profile.notes == ()


def test_exceptions_through_a_library_in_c(tmp_path: Path) -> None:
    """The library has no unwinder; that of the program is asked where the library's frames are."""
    flags = ("-O1", *_FLAGS)
    must("cc", *flags, "-fPIC", "-shared", PROGRAMS / "passes_between.c", "-o", "libbetween.so", cwd=tmp_path)
    must(
        *("c++", *flags, PROGRAMS / "passes.cpp", "libbetween.so", "-Wl,-rpath,$ORIGIN", "-o", "program"),
        cwd=tmp_path,
    )
    output, profile = _run(140, tmp_path)
    book = _books(("passes.cpp", "passes_between.c"), output)
    assert _counted(profile, book) == book
    assert profile.notes == ()


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


@pytest.mark.parametrize(("level", "words"), _WAYS)
@pytest.mark.parametrize(("source", "status"), [("switches.c", 15), ("switches_by_jumps.c", 15)])
def test_stacks_that_take_turns(
    source: str, status: int, level: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    """Contexts that return, that wait when the process ends, and that were abandoned and written over."""
    profile = _agrees((source,), (source,), status, (level, *words), tmp_path)
    assert profile.notes == ()


def test_paths_of_calls_on_several_stacks(tmp_path: Path) -> None:
    """A stack that goes on goes on where it was; a new one begins with its own first function."""
    profile = _agrees(("switches.c",), ("switches.c",), 15, ("-O0", "--trodden-call-paths=on"), tmp_path)
    assert {path.functions for path in named_call_paths(profile)} == {
        ("show_books",),
        ("main",),
        ("main", "again"),
        ("body",),
        ("body", "deep"),
        ("body", "deep", "give_way"),
    }


def test_a_program_ends_as_it_would_without_probes(tmp_path: Path) -> None:
    """An exception that nobody catches finds no handler in our personalities."""
    (tmp_path / "lost.cpp").write_text("int main(int argc, char **) { if (argc) throw 1; return 0; }\n")
    must("c++", "lost.cpp", "-o", "lost", cwd=tmp_path)
    done = execute(["./lost"], tmp_path, environment({"TRODDEN_OUTPUT": str(tmp_path / "lost.raw")}))
    assert done.returncode == -6
    assert "terminating" in done.stderr
