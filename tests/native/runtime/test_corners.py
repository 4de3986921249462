"""Regressions: IR and programs for which counts or builds were once wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must, trodden
from trodden import load
from trodden.native.ir.function import cut_function
from trodden.native.ir.rewriting import rename_phis
from trodden.native.ir.syntax.names import unescape
from trodden.profile.model import Profile


def profile_of(tmp_path: Path, name: str, source: str, *options: str) -> Profile:
    (tmp_path / name).write_text(source)
    done = trodden("run", "-o", "out.trod", *options, name, "-O2", "--", cwd=tmp_path)
    assert done.stderr == ""
    return load(tmp_path / "out.trod")


def test_a_loop_with_an_invoke_keeps_its_counter(tmp_path: Path) -> None:
    source = """#include <cstdlib>
    struct G { ~G(); };
    __attribute__((noinline)) G::~G() { asm volatile(""); }
    __attribute__((noinline)) void work(long i) { if (i == 5) exit(0); if (i > 100) throw i; }
    __attribute__((noinline)) void loop(long n) { for (long i = 0; i < n; i++) { G g; work(i); } }
    int main() { loop(50); }
    """
    loop = profile_of(tmp_path, "a.cpp", source).functions["loop(long)"]
    assert max(loop.block_counts) == 6
    assert loop.violations == ()


def test_early_stage_counts_the_code_behind_a_call_that_does_not_return(tmp_path: Path) -> None:
    source = """#include <stdlib.h>
    int after = 3;
    __attribute__((noinline)) void stopper(int i) { if (i == 3) exit(0); }
    __attribute__((noinline)) int pick(int i) { if (i >= 0) stopper(i); return after; }
    int main(void) { int s = 0; for (int i = 0; i < 9; i++) s += pick(i); return s; }
    """
    profile = profile_of(tmp_path, "a.c", source, "--stage", "early")
    assert list(profile.functions["pick"].block_counts[:-1]) == [4, 4, 3]


def test_early_stage_sees_through_inlined_functions_without_probes(tmp_path: Path) -> None:
    source = """#include <stdlib.h>
    __attribute__((noinline)) void quit(int i) { if (i == 3) exit(0); }
    inline void each(void) { for (int i = 0; i < 9; i++) quit(i); }
    __attribute__((noinline)) void outer(void) { each(); }
    int main(void) { outer(); return 0; }
    """
    profile = profile_of(tmp_path, "a.c", source, "--stage", "early", "--leave", "each")
    assert profile.functions["outer"].entries == 1


def test_functions_that_must_not_carry_probes_are_listed(tmp_path: Path) -> None:
    source = """
    __attribute__((no_profile_instrument_function, noinline)) int plain(int x) { return x + 1; }
    static int impl(void) { return 3; }
    static int (*resolve(void))(void) { return impl; }
    int chosen(void) __attribute__((ifunc("resolve")));
    int main(void) { return plain(chosen()) != 4; }
    """
    skipped = {each.name: each.reason for each in profile_of(tmp_path, "a.c", source).skipped}
    assert set(skipped) == {"plain", "resolve"}


@pytest.mark.parametrize("stage", ["late", "early"])
def test_text_that_looks_like_debug_information_stays(tmp_path: Path, stage: str) -> None:
    source = '#include <stdio.h>\nint main(void) { puts("call void @f(), !dbg !42 end"); return 0; }\n'
    (tmp_path / "a.c").write_text(source)
    assert must("run", "--stage", stage, "a.c", "-O1", cwd=tmp_path) == "call void @f(), !dbg !42 end\n"


def test_code_without_probes_is_not_charged_to_its_neighbour(tmp_path: Path) -> None:
    source = """#include <cstdlib>
    struct D { ~D(); };
    __attribute__((noinline)) D::~D() { asm volatile(""); }
    __attribute__((noinline)) void ext(int i) { if (i > 100) throw i; }
    __attribute__((noinline)) void last(int i) { D d; ext(i); }
    __attribute__((noinline)) void plain() { last(1); exit(0); }
    int main() { plain(); }
    """
    profile = profile_of(tmp_path, "a.cpp", source, "--leave", "plain", "--leave", "main")
    assert profile.functions["last(int)"].entries == 1
    assert profile.functions["last(int)"].cut_short == {}
    assert profile.messages == ()


def test_names_beyond_ascii(tmp_path: Path) -> None:
    directory = tmp_path / 'ünï \\ "q'
    directory.mkdir()
    (directory / "a.c").write_text("int größe(void) { return 0; }\nint main(void) { return größe(); }\n")
    must("run", "-o", "out.trod", "a.c", "-O0", cwd=directory)
    profile = load(directory / "out.trod")
    assert profile.functions["größe"].file == str(directory / "a.c")


def test_the_entry_block_is_numbered_after_the_parameters_alone() -> None:
    header = "define i32 @f({ %0, i32 } %0, ptr byval({ i32, %0, i8 }) %1, i32 %2) {"
    assert cut_function(f"{header}\n  ret i32 0\n}}").blocks[0].label == "3"


def test_strings_of_ir() -> None:
    assert unescape("a\\\\b\\C3\\BC\\22") == 'a\\bü"'


def test_phis_with_several_edges_from_one_block() -> None:
    head = "5:\n  %6 = phi i32 [ 1, %2 ], [ 1, %2 ], [ 3, %4 ]\n"
    expected = "5:\n  %6 = phi i32 [ 1, %x ], [ 1, %y ], [ 3, %4 ]\n"
    assert rename_phis(head, [("2", "x"), ("2", "y")]) == expected


@pytest.mark.parametrize("flags", ["-O0", "-O2"])
@pytest.mark.parametrize("options", ["", "--max-paths 12 --cut-by node", "--max-paths 1", "--metric cycles"])
@pytest.mark.parametrize(
    ("program", "status", "output"), [("goto_tail.c", 5, ""), ("setjmp_invoked.cpp", 0, "139\n")]
)
def test_paths_end_where_no_block_can_be_added(
    program: str, status: int, output: str, options: str, flags: str, tmp_path: Path
) -> None:
    """On edges that cannot be split, and before a call that returns twice although it may throw."""
    options_of_paths = ["--profile", "paths", "--counters", "checked", *options.split()]
    done = trodden("run", *options_of_paths, PROGRAMS / program, flags, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (status, output, "")
    profile = load(tmp_path / "trodden.trod")
    assert {key: each.violations for key, each in profile.functions.items() if each.violations} == {}
    assert profile.messages == ()
