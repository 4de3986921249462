"""Functions that ifunc resolvers call run before the program is relocated, and are counted nevertheless."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.native.building import execute, must, run
from tests.native.trace_records import records, trace_of
from trodden import load

HELPER = """__attribute__((visibility("hidden"))) int inner_calls, outside_calls;
__attribute__((noinline)) static int inner(int n) { inner_calls++; return n & 1 ? n + 1 : n / 2; }
__attribute__((visibility("hidden"))) int outside(int n) {
    int sum = 0;
    outside_calls++;
    for (int i = 0; i < n; i++)
        sum += inner(i);
    return sum;
}
"""
LIBRARY = """#include <stdio.h>
#pragma GCC visibility push(hidden)
extern int inner_calls, outside_calls;
int outside(int);
#pragma GCC visibility pop
static int cpu_calls;
__attribute__((noinline)) static int cpu(int n) { cpu_calls++; return n > 2; }
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int (*pick(void))(int) { return cpu(5) && outside(7) ? one : two; }
int chosen(int) __attribute__((ifunc("pick")));
static int (*pick_other(void))(int) { return outside(3) > 100 ? one : two; }
static int other(int) __attribute__((ifunc("pick_other")));
int (*pointer)(int) = other;
int call(int n) {
    int sum = chosen(n) + other(n) + pointer(n);
    printf("%d %d %d\\n", inner_calls, outside_calls, cpu_calls);
    return sum;
}
"""
MAIN = """int call(int);
int chosen(int);
int (*pointer_of_program)(int) = chosen;
int main(void) { return call(1) + pointer_of_program(0) != 2 + 3 + 3 + 1; }
"""
LOADER = """#include <dlfcn.h>
int main(void) {
    void *library = dlopen("./library.so", RTLD_NOW);
    int (*call)(int) = library ? (int (*)(int))dlsym(library, "call") : 0;
    return !call || call(1) != 8;
}
"""
SOURCES = {"helper.c": HELPER, "library.c": LIBRARY, "main.c": MAIN, "loader.c": LOADER}
SHAPES = ["-no-pie", "-fPIE -pie", "-static", "-static-pie", "-fPIC -pie", "-fPIC -static-pie"]
OPTIONS = [
    "-O0",
    "-O2 -Wl,-z,now",
    "-O0 --trodden-profile=paths --trodden-max-paths=none",
    "-O1 --trodden-profile=paths --trodden-call-paths=on --trodden-last=4",
]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def check(directory: Path, program: str) -> None:
    """Run a program and compare with what it has counted itself.

    In an executable these variables, like all others, keep what a resolver has put into them.
    """
    output = must("run", "-q", "-o", "out.trod", program, cwd=directory)
    profile = load(directory / "out.trod")
    names = [name for name in ("inner", "outside", "cpu") if name in profile.functions]
    counted = {name: profile.functions[name].entries for name in names}
    printed = dict(zip(("inner", "outside", "cpu"), map(int, output.split()), strict=True))
    assert counted == {name: printed[name] for name in names}
    assert counted["inner"] > 0
    assert all(function.violations == () for function in profile.functions.values())
    assert profile.messages == ()


@pytest.mark.parametrize("shape", SHAPES)
def test_in_a_program(sources: Path, shape: str) -> None:
    must("cc", "-O0", *shape.split(), "helper.c", "library.c", "main.c", "-o", "program", cwd=sources)
    check(sources, "./program")


@pytest.mark.parametrize("options", OPTIONS)
def test_in_a_library(sources: Path, options: str) -> None:
    words = options.split()
    must("cc", *words, "-shared", "-fPIC", "helper.c", "library.c", "-o", "library.so", cwd=sources)
    must("cc", *words, "main.c", "./library.so", "-o", "program", cwd=sources)
    must("cc", *words, "loader.c", "-ldl", "-o", "loader", cwd=sources)
    check(sources, "./program")
    check(sources, "./loader")
    subprocess.run(["gcc", "loader.c", "-ldl", "-o", "plain"], cwd=sources, check=True)
    check(sources, "./plain")


@pytest.mark.parametrize("options", OPTIONS[2:])
def test_in_a_static_program_with_options(sources: Path, options: str) -> None:
    words = [*options.split(), "-static"]
    must("cc", *words, "helper.c", "library.c", "main.c", "-o", "program", cwd=sources)
    check(sources, "./program")
    assert run(sources / "program", cwd=sources).returncode == 0


TRACED = "--trodden-profile=trace"


def traced(directory: Path, program: str) -> None:
    """What resolvers call is not in the trace; the rest is."""
    raw = directory / "raw"
    done = execute([program], directory, {"TRODDEN_FILE": str(raw)})
    assert (done.returncode, done.stderr) == (0, "")
    found = [record for chunk in trace_of(raw).chunks for record in records(chunk.records())]
    entered = [number for kind, number, *_ in found if kind == "enter"]
    assert 0 < len(entered) < 10
    assert max(entered) < 20


@pytest.mark.parametrize("shape", ["-no-pie", "-fPIE -pie", "-static", "-static-pie"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_in_a_traced_program(sources: Path, shape: str, level: str) -> None:
    words = [level, TRACED, *shape.split()]
    must("cc", *words, "helper.c", "library.c", "main.c", "-o", "program", cwd=sources)
    traced(sources, "./program")


def test_in_a_traced_library(sources: Path) -> None:
    must("cc", "-O1", TRACED, "-shared", "-fPIC", "helper.c", "library.c", "-o", "library.so", cwd=sources)
    must("cc", "-O1", TRACED, "main.c", "./library.so", "-o", "program", cwd=sources)
    must("cc", "-O1", TRACED, "loader.c", "-ldl", "-o", "loader", cwd=sources)
    traced(sources, "./program")
    traced(sources, "./loader")


def test_a_long_trace_of_a_resolver(tmp_path: Path) -> None:
    """There is no room for it, and none is needed."""
    (tmp_path / "a.c").write_text(
        """__attribute__((noinline)) static int step(int n) { return n * 3 + (n & 1); }
        __attribute__((noinline)) int many(void) {
            int s = 1;
            for (int i = 0; i < 5000; i++)
                s = step(s);
            return s;
        }
        static int one(void) { return 1; }
        static int (*pick(void))(void) { return many() == 7 ? 0 : one; }
        int chosen(void) __attribute__((ifunc("pick")));
        int main(void) { return chosen() != 1; }
        """
    )
    must("cc", "-O1", TRACED, "a.c", "-o", "program", cwd=tmp_path)
    traced(tmp_path, "./program")
