"""Flags for the linker: whatever ld.lld takes, the embedded toolchain takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from iced_x86 import Decoder, EncodingKind

from tests.native.building import execute, must, run, trodden
from trodden.native.driver.linking.linker_flags import for_embedded_linker, for_other_linker
from trodden.native.driver.linking.linker_words import taken_apart
from trodden.native.driver.linking.version_scripts import with_exports
from trodden.profile.store.trod import load

MAIN = """#include <setjmp.h>
#include <stdio.h>
extern jmp_buf target;
int part(int);
int other(int);
__attribute__((weak)) int replaced(int x) { return x; }
int main(int argc, char **argv) {
    static volatile int i;
    for (i = 0; i < 4; i++)
        if (setjmp(target) == 0)
            part(i);
    printf("%d %d %s\\n", other(i), replaced(argc), argv[0] ? "ran" : "");
    return 0;
}
"""
PART = """#include <setjmp.h>
#include <math.h>
jmp_buf target;
static int leave(int x) {
    if (x % 2)
        longjmp(target, 1);
    return x;
}
int part(int x) { return leave(x) + 1; }
int other(int x) { return (int)sqrt(part(x) - 1.0) + 40; }
"""
OUTPUT = "42 1 ran\n"
SCRIPT = """{ global: part; other; target; not_there; local: *; };\n"""
VERSIONS = """ONE_1.0 { global: part; local: _*; leave; };
ONE_1.1 { global: other; target; not_there; local: *; } ONE_1.0;
"""
DYNAMIC = "{ part; };\n"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two objects, and the scripts that links name."""
    directory = tmp_path_factory.mktemp("parts")
    files = {"main.c": MAIN, "part.c": PART, "exports.map": SCRIPT, "versions.map": VERSIONS}
    for name, text in (files | {"dynamic.list": DYNAMIC, "@words": "-Wl,--as-needed"}).items():
        (directory / name).write_text(text)
    must("cc", "-O0", "-fPIC", "-c", "main.c", "part.c", cwd=directory)
    return directory


@pytest.mark.parametrize(
    "flags",
    [
        "-Wl,-O1 -Wl,--as-needed -Wl,-z,relro -Wl,-z,now -Wl,--hash-style=both -Wl,--build-id=sha1",
        "-Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL -Wl,--dynamic-list=dynamic.list -rdynamic",
        "-pie -Wl,-z,pack-relative-relocs -Wl,-z,separate-code -Wl,-z,noexecstack -z nodelete",
        "-Wl,--package-metadata={} -Wl,--defsym,alias=other -Wl,--allow-multiple-definition",
        "-Wl,--push-state,--as-needed,-lm,--pop-state -Wl,-Map,x.map -Wl,--cref -Xlinker --emit-relocs",
        "-Wl,--icf=all -Wl,--gc-sections -Wl,--print-gc-sections -Wl,--undefined=part",
        "-Wl,--compress-debug-sections=zstd -Wl,--no-undefined -Wl,-rpath,/x:/y -Wl,--enable-new-dtags",
        "-Wl,--start-group -lm -Wl,--end-group -Wl,--warn-common -Wl,--stats -Wl,--no-relax",
        "-static -Wl,--whole-archive -Wl,--no-whole-archive -Wl,-z,muldefs -s",
    ],
)
def test_flags_that_the_linker_takes(parts: Path, flags: str) -> None:
    done = trodden("cc", "main.o", "part.o", *flags.split(), "-lm", "-o", "program", cwd=parts)
    assert (done.returncode, done.stderr) == (0, "")
    status = run(parts / "program", cwd=parts)
    assert (status.returncode, status.stdout.split()[0]) == (0, "42")


def test_flags_have_their_effect(parts: Path) -> None:
    words = ["-Wl,-Map=effect.map", "-Wl,--build-id=0x1234", "-Wl,--wrap=replaced", "-Wl,--emit-relocs"]
    (parts / "wrap.c").write_text("int __wrap_replaced(int x) { return x + 6; }\n")
    must("cc", "main.o", "part.o", "wrap.c", *words, "-lm", "-o", "effect", cwd=parts)
    assert "part.o" in (parts / "effect.map").read_text()
    with (parts / "effect").open("rb") as stream:
        sections = {section.name: section.data() for section in ELFFile(stream).iter_sections()}
    assert sections[".note.gnu.build-id"].endswith(b"\x12\x34")
    assert ".rela.text" in sections
    must("run", "-q", "./effect", cwd=parts)
    assert run(parts / "effect", cwd=parts).stdout == "42 7 ran\n"
    assert load(parts / "trodden.trod").functions["part"].entries == 5


@pytest.mark.parametrize(
    "flags",
    [
        ["-Wl,-Bsymbolic-functions"],
        ["-Wl,--dynamic-list=dynamic.list"],
        ["-Wl,--version-script,exports.map"],
        ["-Xlinker", "--version-script", "-Xlinker", "versions.map"],
    ],
    ids=["symbolic", "dynamic list", "anonymous version", "versions"],
)
def test_a_library_that_hides_or_binds_symbols_is_part_of_the_profile(
    parts: Path, tmp_path: Path, flags: list[str]
) -> None:
    must("cc", str(parts / "part.o"), "-shared", *flags, "-lm", "-o", str(tmp_path / "libpart.so"), cwd=parts)
    linking = ["-L.", "-lpart", "-Wl,-rpath,$ORIGIN", "-o", "program"]
    must("cc", str(parts / "main.o"), *linking, cwd=tmp_path)
    assert must("run", "-q", "./program", cwd=tmp_path) == OUTPUT
    profile = load(tmp_path / "trodden.trod")
    entries = {name: function.entries for name, function in profile.functions.items()}
    assert entries == {"main": 1, "replaced": 1, "part": 5, "other": 1, "leave": 5}
    assert len(profile.processes) == 1
    assert not any(function.violations for function in profile.functions.values())


def test_start_files_and_libraries_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "start.c").write_text(
        "#include <unistd.h>\n#include <stdio.h>\n"
        "#ifndef __x86_64__\n#define force_align_arg_pointer noinline\n#endif\n"
        "__attribute__((force_align_arg_pointer)) "
        'void begin(void) { puts("begun"); fflush(stdout); _exit(3); }\n'
    )
    own = ["-Wl,--entry=begin", "-nostartfiles", "--trodden-profile=off"]
    must("cc", "start.c", *own, "-o", "own", cwd=tmp_path)
    assert run(tmp_path / "own", cwd=tmp_path).returncode == 3
    (tmp_path / "main.c").write_text('#include <stdio.h>\nint main(void) { puts("x"); return 0; }\n')
    done = trodden("cc", "main.c", "-nodefaultlibs", "-o", "none", cwd=tmp_path)
    assert done.returncode != 0
    assert "the runtime that counts needs a C library; add -lc" in done.stderr
    must("cc", "main.c", "-nodefaultlibs", "-lc", "-o", "with", cwd=tmp_path)
    assert run(tmp_path / "with", cwd=tmp_path).stdout == "x\n"


@pytest.mark.parametrize("flag", ["-Wl,--no-such-flag", "-lno_such_library", "-Wl,-T,no_such_script"])
def test_a_failed_link_names_the_other_toolchain(parts: Path, flag: str) -> None:
    done = trodden("cc", "main.o", "part.o", "-lm", flag, "-o", "failed", cwd=parts)
    assert done.returncode == 1
    assert "--trodden-toolchain=clang" in done.stderr.splitlines()[-1]
    assert "lld" in done.stderr
    assert not (parts / "failed").exists()


@pytest.mark.parametrize(
    ("words", "kept", "left"),
    [
        ("-Wl,-O1 a.o", "-Xlinker -O1 a.o", ""),
        ("-Wl,--copy-dt-needed-entries,-z,now", "-Xlinker -z -Xlinker now", "--copy-dt-needed-entries"),
        ("-Xlinker --no-warn-rwx-segments b.o", "b.o", "--no-warn-rwx-segments"),
        ("-Wl,--hash-size=7 -Xlinker -Wl,x", "-Xlinker -Wl,x", "--hash-size=7"),
    ],
)
def test_only_flags_that_lld_lacks_are_left_out(words: str, kept: str, left: str) -> None:
    assert for_embedded_linker(words.split()) == (kept.split(), left.split())


def test_the_table_of_call_sites_stays_with_another_linker() -> None:
    assert for_other_linker(["-Wl,--gc-sections,-O1"]) == (["-Xlinker", "-O1"], ["--gc-sections"])
    assert for_other_linker(["-Wl,--gc-sections", "-fuse-ld=lld"])[1] == []


@pytest.mark.parametrize(
    ("script", "made"),
    [
        ("{ local: *; };", "{ global:     ours;   local: *; };"),
        ("{ a; local: *; };", "{     ours; a; local: *; };"),
        ("# none\n{ global: a; local: *; };", "{ global: ours; a; local: *; };"),
        ("V1 { local: *; };", "V1 { local: *; }; TRODDEN {   global:     ours; };"),
        ("V1 { global: a; };", None),
    ],
)
def test_our_symbols_in_a_version_script(tmp_path: Path, script: str, made: str | None) -> None:
    path = tmp_path / "given.map"
    path.write_text(script)
    words = with_exports([f"-Wl,--version-script={path}"], tmp_path, lambda: ["ours"])
    name = words[-1].partition("=")[2]
    if made is None:
        assert name == str(path)
    else:
        assert Path(name).read_text().split() == made.split()


def test_words_are_taken_apart() -> None:
    apart = taken_apart(["-Wl,-a,b", "-Xlinker", "-Wl,c", "d.o", "-Wl,-e"])
    assert apart == ["-Xlinker", "-a", "-Xlinker", "b", "-Xlinker", "-Wl,c", "d.o", "-Xlinker", "-e"]


def test_a_library_that_is_missing_from_the_cache_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    environment = {"TRODDEN_CACHE": str(tmp_path / "cache")}
    assert trodden("cc", "main.c", "-o", "first", cwd=tmp_path, env=environment).returncode == 0
    (library,) = (tmp_path / "cache").glob("link-*/libcompiler_rt.a")
    library.unlink()
    library.symlink_to(tmp_path / "gone")
    (answer,) = (tmp_path / "cache").glob("link-*.json")
    answer.write_text(answer.read_text().replace("libcompiler_rt.a", "libcompiler_rt-gone.a"))
    assert trodden("cc", "main.c", "-o", "second", cwd=tmp_path, env=environment).returncode == 0
    assert os.path.exists(library)
    assert execute(["./second"], tmp_path).returncode == 0


STREAMS = """#include <iostream>
int main() {
    try {
        throw 3;
    } catch (int value) {
        std::cout << value << std::endl;
    }
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="instructions of x86-64")
def test_libraries_of_the_toolchain_run_on_every_processor(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(STREAMS)
    must("c++", "a.cpp", "-o", "a", cwd=tmp_path)
    with (tmp_path / "a").open("rb") as stream:
        text = ELFFile(stream).get_section_by_name(".text")
        assert text is not None
        decoder = Decoder(64, text.data(), ip=text["sh_addr"])
        kinds = {instruction.op_code().encoding for instruction in decoder}
    assert kinds == {EncodingKind.LEGACY}
