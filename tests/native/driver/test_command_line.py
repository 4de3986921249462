"""Compilers' command lines and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from trodden.errors import InputMissing, UsageError
from trodden.native.driver.command_line import Step, expand, parse


@dataclass(frozen=True)
class Case:
    """A command line and the parts of it that are of interest."""

    words: str
    step: Step = Step.LINK
    sources: tuple[tuple[str, str], ...] = ()
    output: str | None = None
    compile: str | None = None
    link: str | None = None
    debug: bool = False
    cxx: bool = False


A = ("a.c", "c")
CASES = [
    Case("a.c", sources=(A,), compile="", link="*"),
    Case("a.c b.cc c.o -lm", sources=(A, ("b.cc", "c++")), link="* * c.o -lm"),
    Case("-c a.c", Step.OBJECT, (A,)),
    Case("-S a.c", Step.ASSEMBLY, (A,)),
    Case("-E a.c", Step.PREPROCESS, (A,)),
    Case("-c -S a.c", Step.ASSEMBLY, (A,)),
    Case("-E -c a.c", Step.PREPROCESS, (A,)),
    Case("-S -E -c a.c", Step.PREPROCESS, (A,)),
    Case("-M a.c", Step.QUERY, (A,)),
    Case("-MM -c a.c", Step.QUERY, (A,)),
    Case("-fsyntax-only a.c", Step.QUERY, (A,)),
    Case("-### a.c", Step.QUERY, (A,)),
    Case("-v", Step.QUERY),
    Case("-v a.c", Step.LINK, (A,), compile="-v", link="-v *"),
    Case("--version", Step.QUERY),
    Case("-dumpmachine", Step.QUERY),
    Case("-print-search-dirs", Step.QUERY),
    Case("-print-prog-name=ld", Step.QUERY),
    Case("a.c -o x", sources=(A,), output="x", link="*"),
    Case("a.c -ox", sources=(A,), output="x", link="*"),
    Case("a.c --output=x", sources=(A,), output="x", link="*"),
    Case("-o first a.c -o last", sources=(A,), output="last"),
    Case("-x c - -o x", sources=(("-", "c"),), output="x"),
    Case("-xc - -o x", sources=(("-", "c"),), output="x"),
    Case("-x c a.txt -x none b.o", sources=(("a.txt", "c"),), link="* b.o"),
    Case("-x c++ a.c", sources=(("a.c", "c++"),)),
    Case("a.c", sources=(("a.c", "c++"),), cxx=True),
    Case("a.i", sources=(("a.i", "c++-cpp-output"),), cxx=True),
    Case("a.s", sources=(("a.s", "assembler"),), cxx=True),
    Case("a.S b.sx", sources=(("a.S", "assembler-with-cpp"), ("b.sx", "assembler-with-cpp"))),
    Case("a.ll b.bc", sources=(("a.ll", "ir"), ("b.bc", "ir"))),
    Case("a.C", sources=(("a.C", "c++"),)),
    Case("-c a.h", Step.OBJECT, (("a.h", "c-header"),)),
    Case("a.c -I inc -Iinc -DX=1 -D Y -UZ", sources=(A,), compile="-I inc -Iinc -DX=1 -D Y -UZ", link="*"),
    Case("a.c -L lib -lm -Wl,-x -z now -s", sources=(A,), compile="", link="* -L lib -lm -Wl,-x -z now -s"),
    Case("a.c -shared -fPIC", sources=(A,), compile="-fPIC", link="* -shared -fPIC"),
    Case("a.c -pthread", sources=(A,), compile="-pthread", link="* -pthread"),
    Case("a.c -O2 -Wall -Werror", sources=(A,), compile="-O2 -Wall -Werror", link="*"),
    Case("a.c -Xlinker -x -Xclang -y", sources=(A,), compile="-Xclang -y", link="* -Xlinker -x"),
    Case("a.c -MMD -MF a.c.d -MT b.c", sources=(A,), compile="-MMD -MF a.c.d -MT b.c", link="*"),
    Case("a.c -target x86_64-linux-musl", sources=(A,), compile="-target x86_64-linux-musl"),
    Case("-include b.c a.c", sources=(A,), compile="-include b.c", link="*"),
    Case("-g a.c", sources=(A,), debug=True),
    Case("-g3 a.c", sources=(A,), debug=True),
    Case("-ggdb a.c", sources=(A,), debug=True),
    Case("-g -g0 a.c", sources=(A,)),
    Case("-gz a.c", sources=(A,)),
    Case("-gsplit-dwarf a.c", sources=(A,), compile="-g", debug=True),
    Case("-flto a.c -flto=thin", sources=(A,), compile="", link="*"),
    Case("a.o", link="a.o"),
    Case("lib.a lib.so.1 a.lo", link="lib.a lib.so.1 a.lo"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_parse(case: Case) -> None:
    line = parse(case.words.split(), case.cxx)
    assert line.step is case.step
    assert tuple((source.path, source.language) for source in line.sources) == case.sources
    assert line.output == case.output
    assert line.debug == case.debug
    if case.compile is not None:
        assert line.compile_flags == case.compile.split()
    if case.link is not None:
        assert ["*" if word is None else word for word in line.link_words] == case.link.split()
    for source in line.sources:
        assert line.link_words[source.position] is None


def test_own_options_are_kept_apart() -> None:
    words = ["--trodden-profile=blocks", "--trodden-only=a*", "a.c", "--trodden-only=b*", "--trodden-stage"]
    line = parse(words, cxx=False)
    assert line.own == [word for word in words if word != "a.c"]
    assert line.compile_flags == []
    assert line.link_words == [None]


def test_what_is_left_out_has_a_reason() -> None:
    line = parse(["-flto=auto", "-fno-lto", "-save-temps", "a.c"], cxx=False)
    assert [flag for flag, _ in line.ignored] == ["-flto=auto", "-save-temps"]
    assert all(reason for _, reason in line.ignored)


def test_objects_are_the_files_for_the_linker() -> None:
    line = parse(["a.c", "b.o", "-Xlinker", "c.o", "-T", "script.ld", "d.a"], cxx=False)
    assert line.objects == ["b.o", "d.a"]


@pytest.mark.parametrize("words", [["-o"], ["a.c", "-o"], ["-x"], ["-"], ["-c", "-"]])
def test_half_a_command_line(words: list[str]) -> None:
    with pytest.raises(UsageError):
        parse(words, cxx=False)


def test_response_files(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("-DX='a b' \"c d.c\"\n")
    outer.write_text(f"-O2\n@{inner}\n-c\\ d\n")
    assert expand([f"@{outer}", "@", "@missing"]) == ["-O2", "-DX=a b", "c d.c", "-c d", "@", "@missing"]


def test_a_response_file_that_names_itself(tmp_path: Path) -> None:
    itself = tmp_path / "itself"
    itself.write_text(f"@{itself}")
    with pytest.raises(UsageError, match="names itself"):
        expand([f"@{itself}"])


@pytest.mark.parametrize("content", [b"'open", b'"open'])
def test_a_response_file_that_is_not_one(tmp_path: Path, content: bytes) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(content)
    with pytest.raises(InputMissing, match="bad"):
        expand([f"@{bad}"])
