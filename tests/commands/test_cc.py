"""``trodden cc`` and ``trodden c++`` as replacements of a compiler."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.commands.two_parts import CLANG, MAIN, PART, functions, runs
from tests.native.building import TRODDEN, environment, execute, must, run, trodden
from trodden.collect.binary.program import read_program

ARCHIVER = (sys.executable, "-m", "ziglang", "ar")


def sections(path: Path) -> set[str]:
    with path.open("rb") as stream:
        return {section.name for section in ELFFile(stream).iter_sections()}


# Compiling and linking


@pytest.mark.parametrize("debug", ["-g0", "-g"])
def test_the_linker_speaks_of_sources(tmp_path: Path, debug: str) -> None:
    (tmp_path / "a.c").write_text("int missing(int);\nint main(int c, char **v) { return missing(c); }\n")
    done = trodden("cc", debug, "a.c", "-o", "a", cwd=tmp_path)
    assert done.returncode != 0
    assert "undefined symbol: missing\n>>> referenced by a.c" in done.stderr
    assert "<trodden>" not in done.stderr
    assert "/trodden-" not in done.stderr


def test_compile_and_link_at_once(work: Path) -> None:
    must("cc", "main.c", "part.c", cwd=work)
    runs(work / "a.out", "3 none\n")
    assert functions(work / "a.out") == {"main", "part"}
    assert not (work / "main.o").exists()


def test_compile_then_link(work: Path) -> None:
    must("cc", "-c", "main.c", "part.c", cwd=work)
    must("cc", "main.o", "part.o", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "part.o") == {"part"}


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og", "-O"])
def test_levels(work: Path, level: str) -> None:
    must("cc", level, "main.c", "part.c", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")


@pytest.mark.parametrize("stage", ["late", "early"])
def test_shared_library(work: Path, stage: str) -> None:
    must("cc", f"--trodden-stage={stage}", "-shared", "-fPIC", "part.c", "-o", "libpart.so", cwd=work)
    must("cc", "main.c", "-L.", "-lpart", "-Wl,-rpath,$ORIGIN", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "libpart.so") == {"part"}
    assert functions(work / "program") == {"main"}


def test_static_library(work: Path) -> None:
    must("cc", "-c", "part.c", cwd=work)
    assert execute([*ARCHIVER, "rcs", "libpart.a", "part.o"], work).returncode == 0
    must("cc", "main.c", "-L.", "-lpart", "-pthread", "-lm", "-ldl", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "program") == {"main", "part"}


def test_static_program(work: Path) -> None:
    must("cc", "-target", "x86_64-linux-musl", "-static", "main.c", "part.c", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    with (work / "program").open("rb") as stream:
        assert all(segment["p_type"] != "PT_INTERP" for segment in ELFFile(stream).iter_segments())


def test_relocatable(work: Path) -> None:
    must("cc", "-r", "-nostdlib", "main.c", "part.c", "-o", "both.o", cwd=work)
    must("cc", "both.o", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "program") == {"main", "part"}


def test_objects_without_probes_can_be_linked(work: Path) -> None:
    assert execute([*CLANG, "-c", "part.c"], work).returncode == 0
    must("cc", "main.c", "part.o", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "program") == {"main"}


def test_assembly_in_and_out(work: Path) -> None:
    must("cc", "-S", "-O2", "part.c", cwd=work)
    must("cc", "main.c", "part.s", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "program") == {"main", "part"}


def test_assembly_with_a_preprocessor(work: Path) -> None:
    (work / "seven.S").write_text("#ifdef GIVEN\n.globl seven\nseven: mov $7, %eax\n ret\n#endif\n")
    (work / "use.c").write_text("int seven(void);\nint main(void) { return seven(); }\n")
    must("cc", "-DGIVEN", "-MMD", "-c", "seven.S", cwd=work)
    assert (work / "seven.d").read_text().split() == ["seven.o:", "seven.S"]
    must("cc", "use.c", "seven.o", "-o", "program", cwd=work)
    assert run(work / "program", cwd=work).returncode == 7


@pytest.mark.parametrize("words", [["-emit-llvm", "-c"], ["-emit-llvm", "-S"]])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_ir_out_and_in(work: Path, words: list[str], level: str) -> None:
    must("cc", *words, level, "part.c", cwd=work)
    ir = "part.bc" if "-c" in words else "part.ll"
    must("cc", level, "main.c", ir, "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "program") == {"main", "part"}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_ir_of_another_compiler(work: Path, level: str) -> None:
    done = execute([*CLANG, "-S", "-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes", "part.c"], work)
    assert done.returncode == 0
    must("cc", level, "main.c", "part.ll", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "program") == {"main", "part"}


def test_standard_input(work: Path) -> None:
    source = (MAIN + PART).encode()
    done = trodden("cc", "-I.", "-x", "c", "-", "-o", "program", cwd=work, stdin=source)
    assert (done.returncode, done.stderr) == (0, "")
    runs(work / "program", "3 none\n")


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (["-S"], "\t.file"),
        (["-S", "-emit-llvm"], "source_filename"),
        (["-c"], "\x7fELF"),
        (["-E"], "# 1"),
        (["-M"], "part.o:"),
    ],
)
def test_standard_output(work: Path, words: list[str], start: str) -> None:
    before = set(os.listdir(work))
    output = must("cc", *words, "part.c", "-o", "-", cwd=work)
    assert start in output.splitlines()[1 if "-emit-llvm" in words else 0]
    assert set(os.listdir(work)) == before


def test_response_file(work: Path) -> None:
    (work / "words").write_text('-O2 -DNAME=\'"from a file"\'\nmain.c "part.c" -o program\n')
    must("cc", "@words", cwd=work)
    runs(work / "program", "3 from a file\n")


def test_definitions_with_spaces_and_an_included_file(work: Path) -> None:
    (work / "first.h").write_text('#define NAME "a b " MORE\n')
    must("cc", "-include", "first.h", '-DMORE="c d"', "main.c", "part.c", "-o", "program", cwd=work)
    runs(work / "program", "3 a b c d\n")


@pytest.mark.parametrize("name", ["with space", "it's", 'a "quote"', "back\\slash", "a$x", "ünïcode", "#"])
def test_odd_names(work: Path, name: str) -> None:
    place = work / name
    place.mkdir()
    for path in ("main.c", "part.c", "part.h"):
        shutil.copy(work / path, place / (name + path if path != "part.h" else path))
    sources = [place / f"{name}main.c", place / f"{name}part.c"]
    must("cc", *sources, "-o", place / name, cwd=work, env={"TMPDIR": str(place)})
    runs(place / name, "3 none\n")
    assert {unit.source for unit in read_program(place / name).units.values()} == set(map(str, sources))


def test_debug_information_only_when_asked_for(work: Path) -> None:
    must("cc", "-c", "-O2", "part.c", "-o", "plain.o", cwd=work)
    must("cc", "-c", "-g", "part.c", "-o", "debug.o", cwd=work)
    with (work / "plain.o").open("rb") as stream:
        # Only what tells where a frame is; nothing of the source.
        (unit,) = ELFFile(stream).get_dwarf_info().iter_CUs()
        named = [die.attributes.get("DW_AT_name") for die in unit.iter_DIEs()]
        names = {name.value for name in named if name is not None}
        assert b"<trodden>" in names
        assert all(name.strip(b"_<").startswith(b"trodden") for name in names)
    with (work / "debug.o").open("rb") as stream:
        info = ELFFile(stream).get_dwarf_info()
        (unit,) = info.iter_CUs()
        program = info.line_program_for_CU(unit)
        assert program is not None
        lines = {entry.state.line for entry in program.get_entries() if entry.state}
        assert unit.get_top_DIE().attributes["DW_AT_name"].value == b"part.c"
    assert {2, 4, 6} <= lines


def test_stripping_keeps_the_facts(work: Path) -> None:
    must("cc", "-s", "main.c", "part.c", "-o", "program", cwd=work)
    assert ".symtab" not in sections(work / "program")
    assert functions(work / "program") == {"main", "part"}


def test_cxx(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(
        "#include <iostream>\n#include <stdexcept>\n#include <vector>\n"
        "template <class T> T twice(T x) { return x + x; }\n"
        "int main() {\n  try { return std::vector<int>().at(3); }\n"
        "  catch (const std::exception &) { std::cout << twice(4) << twice(0.25) << std::endl; }\n}\n"
    )
    must("c++", "-O1", "a.cpp", "-o", "program", cwd=tmp_path)
    runs(tmp_path / "program", "80.5\n")
    assert "main" in functions(tmp_path / "program")
    must("cc", "-c", "a.cpp", cwd=tmp_path)
    assert "#include" not in must("cc", "-E", "a.cpp", cwd=tmp_path)
    must("c++", "a.o", "-o", "again", cwd=tmp_path)
    runs(tmp_path / "again", "80.5\n")
    assert {"main", "int twice<int>(int)"} <= functions(tmp_path / "again")


def test_outputs_of_autoconf(work: Path) -> None:
    (work / "conftest.c").write_text("int main(void) { return 0; }\n")
    must("cc", "-o", "conftest", "conftest.c", cwd=work)
    must("cc", "-c", "conftest.c", cwd=work)
    must("cc", "-E", "conftest.c", cwd=work)
    must("cc", "-c", "conftest.c", "-o", "/dev/null", cwd=work)
    must("cc", "conftest.c", "-o", "/dev/null", cwd=work)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert trodden("cc", "-qversion", cwd=work).returncode != 0


@pytest.mark.parametrize("query", ["-v", "--version", "-dumpmachine", "-print-search-dirs"])
def test_queries(tmp_path: Path, query: str) -> None:
    done = trodden("cc", query, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout + done.stderr
    assert "warning" not in done.stderr
    assert "linux6" not in done.stdout + done.stderr


def test_commands_that_would_be_run(work: Path) -> None:
    done = trodden("cc", "-###", "-c", "part.c", cwd=work)
    assert done.returncode == 0
    assert '"-cc1"' in done.stderr
    assert not (work / "part.o").exists()


def test_verbose(work: Path) -> None:
    done = trodden("cc", "-v", "-c", "part.c", cwd=work)
    assert done.returncode == 0
    assert "-cc1" in done.stderr
    assert functions(work / "part.o") == {"part"}


@pytest.mark.parametrize("words", [["-c"], []])
def test_no_additional_warnings(work: Path, words: list[str]) -> None:
    warnings = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wunused-command-line-argument"]
    must("cc", *warnings, "-std=c99", *words, "-O2", "-lm", "-L.", "main.c", "part.c", cwd=work)


@pytest.mark.parametrize("stage", ["late", "early"])
def test_a_warning_is_printed_once(tmp_path: Path, stage: str) -> None:
    source = "int f(void) { int unused = 1; return 2; }\nint main(void) { return f(); }\n"
    (tmp_path / "x.c").write_text(source)
    done = trodden("cc", f"--trodden-stage={stage}", "-Wall", "-O2", "x.c", "-o", "x", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("unused variable 'unused'") == 1
    assert "1 warning generated" in done.stderr


@pytest.mark.parametrize("flags", [["-flto"], ["-flto=thin", "-ffat-lto-objects"], ["-save-temps"]])
def test_flags_that_are_left_out(work: Path, flags: list[str]) -> None:
    done = trodden("cc", *flags, "-c", "part.c", cwd=work)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"trodden: {' '.join(flags)}: ignored; ")
    assert sorted(os.listdir(work)) == ["main.c", "part.c", "part.h", "part.o"]


def test_a_flag_that_the_linker_lacks(work: Path) -> None:
    done = trodden("cc", "main.c", "part.c", "-Wl,--warn-textrel,-O1", "-o", "program", cwd=work)
    told = "trodden: --warn-textrel: ignored; the embedded linker makes the same without\n"
    assert (done.returncode, done.stderr) == (0, told)
    runs(work / "program", "3 none\n")


def test_in_parallel(work: Path) -> None:
    command = [*TRODDEN, "cc", "-c", "part.c", "-o", "part.o"]
    started = [subprocess.Popen(command, cwd=work, env=environment()) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert functions(work / "part.o") == {"part"}
    assert sorted(os.listdir(work)) == ["main.c", "part.c", "part.h", "part.o"]


def test_the_same_source_makes_the_same_object(work: Path) -> None:
    must("cc", "-O2", "-c", "part.c", "-o", "one.o", cwd=work)
    must("cc", "-O2", "-c", "part.c", "-o", "two.o", cwd=work)
    assert (work / "one.o").read_bytes() == (work / "two.o").read_bytes()


# Dependency files


@pytest.mark.parametrize(
    ("words", "file", "target"),
    [
        (["-MMD", "-c"], "main.d", "main.o"),
        (["-MD", "-c", "-o", "out/x.obj"], "out/x.d", "out/x.obj"),
        (["-MMD", "-S"], "main.d", "main.o"),
        (["-MMD", "-MF", "deps", "-c"], "deps", "main.o"),
        (["-MMD", "-MT", "goal", "-c"], "main.d", "goal"),
        (["-MMD", "-MQ", "$goal", "-MFdeps", "-c"], "deps", "$$goal"),
        (["-Wp,-MMD,deps", "-c", "-o", "x.o"], "deps", "x.o"),
        (["-MMD", "part.c", "-o", "program"], "program-main.d", "program"),
        (["-MMD", "part.c"], "main.d", "main.o"),
    ],
)
def test_dependency_files(work: Path, words: list[str], file: str, target: str) -> None:
    (work / "out").mkdir()
    must("cc", "main.c", *words, cwd=work)
    found = (work / file).read_text().replace("\\\n", " ").split()
    assert found[:2] == [f"{target}:", "main.c"]
    assert "part.h" in found


def test_dependencies_without_targets_of_their_own(work: Path) -> None:
    must("cc", "-MMD", "-MP", "-c", "main.c", cwd=work)
    assert (work / "main.d").read_text().splitlines()[-1] == "part.h:"
    assert must("cc", "-MM", "main.c", cwd=work).split() == ["main.o:", "main.c", "part.h"]
