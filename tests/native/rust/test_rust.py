"""Rust programs: ``trodden rustc`` and ``trodden cargo``, against programs that count their own lines.

Where there is no Rust, the tests that need it check that the commands say what to install.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec

import pytest

from tests.native.building import PROGRAMS, execute, must, run, trodden
from trodden.errors import ToolchainMissing, UsageError
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.store.trod import load
from trodden.program.facts import LineRef
from trodden.source.lines import line_counts

SELF_COUNTING = PROGRAMS / "exact_rust.rs"
EDITION = "--edition=2021"
_ENTRY = re.compile(r"^0:(\d+)=(\d+)$", re.MULTILINE)
_HIT_BODY = 1 + next(
    n for n, text in enumerate(SELF_COUNTING.read_text().splitlines()) if "fetch_add" in text
)
P = ParamSpec("P")


def with_rust(test: Callable[P, None]) -> Callable[P, None]:
    """The test; on a machine without Rust, one of the messages that it gets."""
    if shutil.which("rustc") is not None and shutil.which("cargo") is not None:
        return test

    @functools.wraps(test)
    def without(*_: P.args, **__: P.kwargs) -> None:
        for verb in ("rustc", "cargo"):
            done = trodden(verb, "x.rs", cwd=PROGRAMS)
            assert done.returncode == ToolchainMissing.status
            assert "no such" in done.stderr
            assert "install Rust" in done.stderr

    return without


def named(profile: Profile, name: str) -> FunctionProfile:
    (found,) = [function for function in profile.functions.values() if function.name == name]
    return found


# Programs that count their own lines


def _hits(function: FunctionProfile, block: int) -> set[LineRef]:
    """The inlined calls in a block of the function that counts a line."""
    found = set()
    for line in function.blocks[block].lines:
        while line.instance:
            call = function.facts.inlined[line.instance - 1]
            if line.line == _HIT_BODY and function.files[line.file].path == str(SELF_COUNTING):
                found.add(call)
            line = call
    return found


def _executed(profile: Profile, expected: dict[int, int]) -> dict[int, int]:
    counted = dict.fromkeys(expected, 0)
    for function in profile.functions.values():
        for number, block in enumerate(function.blocks):
            for call in _hits(function, number):
                counted[call.line] = counted.get(call.line, 0) + int(block.count)
    return {line: count for line, count in counted.items() if count}


@with_rust
@pytest.mark.parametrize(
    ("flags", "end", "status"),
    [
        ((), "return", 0),
        (("-O",), "panic", 101),
        (("-O", "--trodden-counters=checked"), "exit", 7),
        (("--trodden-profile=paths",), "panic", 101),
        (("-O", "--trodden-profile=paths"), "return", 0),
        (("-O", "--trodden-profile=paths", "--trodden-counters=checked"), "exit", 7),
        (("-O", "--trodden-stage=early"), "panic", 101),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_counts_agree_with_the_programs_own(
    tmp_path: Path, flags: tuple[str, ...], end: str, status: int
) -> None:
    must("rustc", EDITION, *flags, SELF_COUNTING, "-o", "program", cwd=tmp_path)
    done = trodden("run", "./program", end, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (status, "")
    expected = {int(line): int(count) for line, count in _ENTRY.findall(done.stdout)}
    assert len(expected) > 30
    profile = load(tmp_path / "trodden.trod")
    if "--trodden-stage=early" not in flags:
        assert _executed(profile, expected) == expected
    if "-O" not in flags or "--trodden-stage=early" in flags:
        lines = line_counts(profile)[str(SELF_COUNTING)]
        assert {line: lines[line].count for line in expected} == expected
    assert {f.name: f.violations for f in profile.functions.values() if f.violations} == {}
    assert profile.messages == ()


# What can be made


PART = """
#[no_mangle]
pub extern "C" fn part_sum(n: u32) -> u32 {
    (0..n).filter(|i| i % 3 == 0).map(step).sum()
}

#[inline(never)]
fn step(i: u32) -> u32 {
    if i > 4 { i * 2 } else { i }
}

#[inline(never)]
pub fn largest<T: PartialOrd + Copy>(items: &[T]) -> T {
    let mut best = items[0];
    for &item in items {
        if item > best {
            best = item;
        }
    }
    best
}

#[no_mangle]
pub extern "C" fn part_thread() -> u32 {
    std::panic::set_hook(Box::new(|_| {}));
    let failed = std::panic::catch_unwind(|| assert_eq!(step(2), 3)).is_err();
    std::thread::spawn(|| part_sum(10)).join().unwrap() + u32::from(failed)
}
"""
USE = """
fn main() {
    println!("{} {} {}", part::largest(&[3, 9]), part::largest(&[1.5]), part::part_sum(12));
}
"""
USE_FROM_C = """#include <stdio.h>
unsigned part_thread(void);
int main(void) { printf("%u\\n", part_thread()); return 0; }
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "part.rs").write_text(PART)
    (tmp_path / "use.rs").write_text(USE)
    (tmp_path / "use.c").write_text(USE_FROM_C)
    return tmp_path


@with_rust
@pytest.mark.parametrize("mangling", ["legacy", "v0"])
def test_a_library_and_its_user_are_instrumented_apart(work: Path, mangling: str) -> None:
    flags = (EDITION, "-O", "-g") if mangling == "v0" else (EDITION,)
    if mangling == "v0":
        flags = (*flags, "-C", "symbol-mangling-version=v0")
    must("rustc", *flags, "--crate-type=rlib", "part.rs", cwd=work)
    must("rustc", *flags, "use.rs", "--extern", "part=libpart.rlib", cwd=work)
    assert must("run", "./use", cwd=work) == "9 1.5 33\n"
    profile = load(work / "trodden.trod")
    assert named(profile, "part::step").entries == 4
    assert [named(profile, f"part::largest::<{kind}>").entries for kind in ("i32", "f64")] == [1, 1]
    assert named(profile, "use::main").entries == 1
    assert not any("__rust_alloc" in function.facts.linkage_name for function in profile.functions.values())


@with_rust
@pytest.mark.parametrize("kind", ["cdylib", "staticlib"])
def test_c_programs_use_libraries(work: Path, kind: str) -> None:
    made = "libpart.so" if kind == "cdylib" else "libpart.a"
    must("rustc", EDITION, "-O", "--crate-type", kind, "part.rs", cwd=work)
    libraries = ["-Wl,-rpath,."] if kind == "cdylib" else ["-lgcc_s", "-lpthread", "-lm", "-ldl"]
    must("cc", "use.c", f"./{made}", *libraries, "-o", "use", cwd=work)
    assert must("run", "./use", cwd=work) == "34\n"
    profile = load(work / "trodden.trod")
    assert named(profile, "part::step").entries == 5
    assert named(profile, "main").entries == 1
    assert profile.messages == ()


@with_rust
def test_objects_and_other_outputs(work: Path) -> None:
    must("rustc", EDITION, "--crate-type=lib", "--emit=obj,asm,dep-info", "part.rs", cwd=work)
    assert (work / "part.o").read_bytes()[:4] == b"\x7fELF"
    assert "part_sum:" in (work / "part.s").read_text()
    assert (work / "part.d").exists()
    must("rustc", EDITION, "--crate-type=lib", "--emit=metadata", "part.rs", "-o", "meta", cwd=work)
    assert (work / "meta").exists()


@with_rust
def test_the_embedded_linker_stands_in(work: Path) -> None:
    """A machine may have Rust and no C compiler."""
    found = shutil.which("rustc")
    assert found is not None
    (work / "bin").mkdir()
    (work / "bin" / "rustc").symlink_to(found)
    (work / "main.rs").write_text('fn main() { println!("{}", std::thread::spawn(|| 3).join().unwrap()); }\n')
    must("rustc", "main.rs", cwd=work, env={"PATH": str(work / "bin")})
    assert must("run", "./main", cwd=work) == "3\n"
    assert named(load(work / "trodden.trod"), "main::main").entries == 1


@with_rust
def test_what_rustc_says_stays_as_it_is(work: Path) -> None:
    (work / "bad.rs").write_text("fn main() { let x: u32 = missing; }\n")
    for words in (["bad.rs"], ["--version"], ["--print", "sysroot"], ["none.rs"]):
        plain = execute(["rustc", *words], work)
        ours = trodden("rustc", *words, cwd=work)
        assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
        assert ours.stderr == plain.stderr
    assert not (work / "bad").exists()


@with_rust
def test_link_time_optimisation_is_left_out_and_said(work: Path) -> None:
    (work / "main.rs").write_text("fn main() {}\n")
    done = trodden("rustc", "-C", "lto=fat", "main.rs", cwd=work)
    assert done.returncode == 0
    assert done.stderr.startswith("trodden: -C lto=fat: ignored; ")
    assert run("./main", cwd=work).returncode == 0


@with_rust
@pytest.mark.parametrize("option", ["instrument-coverage", "profile-generate", "passes=dce"])
def test_other_instruments_are_refused(work: Path, option: str) -> None:
    done = trodden("rustc", "-C", option, "use.rs", cwd=work)
    assert done.returncode == UsageError.status
    assert done.stderr.startswith(f"trodden: -C {option.partition('=')[0]}: ")
    assert done.stderr.count("\n") == 1


# Compilers that do not fit


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A rustc of the future."""
    script = tmp_path / "rustc"
    script.write_text(
        "#!/bin/sh\n"
        "echo 'rustc 9.99.0'; echo 'release: 9.99.0'; echo 'host: x86_64-unknown-linux-gnu'\n"
        "echo 'LLVM version: 99.1.0'\n"
    )
    script.chmod(0o755)
    return script


def test_a_newer_llvm_is_refused(tmp_path: Path, newer: Path) -> None:
    (tmp_path / "main.rs").write_text("fn main() {}\n")
    done = trodden("rustc", f"--trodden-rustc={newer}", "main.rs", cwd=tmp_path)
    assert done.returncode == ToolchainMissing.status
    assert "rustc 9.99.0 has LLVM 99" in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_rust_it_says_what_to_install(tmp_path: Path) -> None:
    for verb in ("rustc", "cargo"):
        done = trodden(verb, "build", cwd=tmp_path, env={"PATH": str(tmp_path), "RUSTC": "", "CARGO": ""})
        assert done.returncode == ToolchainMissing.status
        assert "install Rust" in done.stderr
        assert done.stderr.count("\n") == 1


# Packages


FILES = {
    "Cargo.toml": '[workspace]\nmembers = ["app", "derive", "parts"]\nresolver = "2"\n'
    "[profile.release]\nlto = true\n",
    "app/Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n'
    '[dependencies]\nderive = { path = "../derive" }\nparts = { path = "../parts" }\n'
    'outside = { path = "../../outside" }\n[build-dependencies]\nparts = { path = "../parts" }\n',
    "app/build.rs": 'fn main() { println!("cargo:rustc-env=BUILT={}", parts::add(1, 2)); }\n',
    "app/src/main.rs": "#[derive(derive::Twice)]\nstruct S;\n"
    "fn main() {\n    let n = std::env::args().nth(1).unwrap().parse().unwrap();\n    let mut t = 0;\n"
    "    for i in 0..n {\n        t = parts::add(t, i);\n    }\n"
    '    println!("{t} {} {} {}", env!("BUILT"), S::twice(4), outside::far(2));\n}\n',
    "app/tests/adding.rs": "#[test]\nfn adds() {\n"
    "    (0..10).for_each(|i| assert_eq!(parts::add(i, 1), i + 1));\n}\n"
    "#[test]\n#[should_panic]\nfn fails() {\n    parts::positive(0);\n}\n",
    "derive/Cargo.toml": '[package]\nname = "derive"\nversion = "0.1.0"\nedition = "2021"\n'
    '[lib]\nproc-macro = true\n[dependencies]\nparts = { path = "../parts" }\n',
    "derive/src/lib.rs": "#[proc_macro_derive(Twice)]\n"
    "pub fn twice(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n"
    '    let code = "impl S { fn twice(x: u64) -> u64 { x * N } }";\n'
    '    code.replace("N", &parts::add(1, 1).to_string()).parse().unwrap()\n}\n',
    "parts/Cargo.toml": '[package]\nname = "parts"\nversion = "0.1.0"\nedition = "2021"\n',
    "parts/src/lib.rs": "/// ```\n/// assert_eq!(parts::add(20, 22), 42);\n/// ```\n"
    "#[inline(never)]\npub fn add(a: u64, b: u64) -> u64 {\n"
    "    if b % 4 == 3 {\n        return std::hint::black_box(a);\n    }\n    a + b\n}\n"
    'pub fn positive(a: u64) -> u64 {\n    assert!(a > 0, "zero");\n    a\n}\n',
    "../outside/Cargo.toml": '[package]\nname = "outside"\nversion = "0.1.0"\nedition = "2021"\n',
    "../outside/src/lib.rs": "#[inline(never)]\npub fn far(n: u64) -> u64 {\n    n * 7\n}\n",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace with a build script, a macro that uses its library, and a dependency elsewhere."""
    home = tmp_path_factory.mktemp("cargo") / "work"
    for name, text in FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    yield home
    shutil.rmtree(home)


def _cargo(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return trodden("cargo", *words, cwd=package, env={"CARGO_NET_OFFLINE": "true"})


@with_rust
def test_cargo_runs_what_it_builds(package: Path) -> None:
    done = _cargo(package, "-o", "run.trod", "run", "--quiet", "--", "10")
    assert (done.returncode, done.stdout) == (0, "35 3 8 14\n")
    profile = load(package / "run.trod")
    assert named(profile, "parts::add").entries == 10
    assert named(profile, "app::main").entries == 1
    assert "outside::far" not in {function.name for function in profile.functions.values()}
    assert sorted(path.name for path in package.iterdir()) == sorted(
        ["Cargo.lock", "Cargo.toml", "app", "derive", "parts", "run.trod", "target"]
    )
    assert sorted(path.name for path in (package / "target").iterdir()) == ["trodden"]
    program = next((package / "target" / "trodden").glob("*/debug/app"))
    assert must("run", program, "3", cwd=package) == "3 3 8 14\n"


@with_rust
def test_cargo_with_dependencies_and_other_choices(package: Path) -> None:
    words = ("--profile", "paths", "--deps", "-o", "deep.trod", "run", "--quiet", "--release", "--", "10")
    done = _cargo(package, *words)
    assert (done.returncode, done.stdout) == (0, "35 3 8 14\n")
    profile = load(package / "deep.trod")
    assert named(profile, "outside::far").entries == 1
    add = named(profile, "parts::add")
    assert sorted(path.count for path in add.paths or ()) == [2, 8]


@with_rust
def test_cargo_tests_and_those_in_comments(package: Path) -> None:
    done = _cargo(package, "-o", "test.trod", "test", "--quiet", "-p", "app", "-p", "parts", "--no-fail-fast")
    assert done.returncode == 0
    profile = load(package / "test.trod")
    lines = line_counts(profile)[str(package / "parts" / "src" / "lib.rs")]
    assert [lines[number].count for number in (6, 7, 9, 12)] == [11, 0, 11, 1]
    assert profile.messages == ()


@with_rust
def test_cargo_ends_as_cargo_does(package: Path, tmp_path: Path) -> None:
    done = _cargo(package, "run", "--quiet", "--", "x")
    assert done.returncode == 101
    done = trodden("cargo", "build", cwd=tmp_path)
    assert done.returncode == 101
    assert "Cargo.toml" in done.stderr


def test_cargo_checks_our_options_first(tmp_path: Path) -> None:
    done = trodden("cargo", "--profile", "nonsense", "build", cwd=tmp_path)
    assert done.returncode == UsageError.status
    assert done.stderr.startswith("trodden: --profile=nonsense: choose one of")


def test_cargo_names_a_mistyped_option(tmp_path: Path) -> None:
    done = trodden("cargo", "--profle", "paths", "build", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        UsageError.status,
        "trodden: --profle: no such option; did you mean --profile?\n",
    )
