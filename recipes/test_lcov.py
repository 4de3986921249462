"""Tracefiles read by lcov and genhtml, versions 1.16 and 2: they take them, and count what was exported.

Version 1.16 is that of Debian 12; of version 2 the package of Debian 13 is fetched from where apt gets its
packages.  ``LCOV_VERSIONS`` may name directories of other versions, separated by colons.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from recipes.debian import WORK, environment, fetched_command, locked, unpacked
from recipes.rust import rust_environment
from tests.export.tracefiles import PROGRAMS, totals_of, tracefile

_MODULES = ("libcapture-tiny-perl", "libdatetime-perl", "libjson-perl", "libtimedate-perl")
_SECOND = "http://deb.debian.org/debian/pool/main/l/lcov/lcov_2.3.1-1_all.deb"
_RUST = """\
fn classify(n: i32) -> &'static str {
    match n {
        i32::MIN..=-1 => "negative",
        0 => "zero",
        1 | 2 => "small",
        _ => "large",
    }
}

fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 {
    if n > 100 {
        0
    } else {
        f(n)
    }
}

fn main() {
    let mut total = 0;
    for i in -2..6 {
        total += classify(i).len() as i32 + apply(|x| x * 2, i);
    }
    let never = |a: i32| -> i32 {
        if a > 2 {
            return 1;
        }
        2
    };
    if total > 10_000 && total < 20_000 {
        println!("{}", never(total));
    }
    println!("{total}");
}
"""


def _second() -> Path:
    """The directory with the commands of lcov 2."""
    root = WORK / "packages" / "lcov-2"
    with locked(WORK / "lcov-2.lock"):
        if not root.is_dir():
            archive = WORK / "lcov-2.deb"
            with urlopen(_SECOND) as answer:
                archive.write_bytes(answer.read())
            fresh = root.with_name("lcov-2.new")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True)
            subprocess.run(["dpkg-deb", "--extract", str(archive), str(fresh)], check=True)
            fresh.rename(root)
    return root / "usr" / "bin"


def _versions() -> Iterator[tuple[str, Path]]:
    yield "first", fetched_command("lcov", "lcov").parent
    yield "second", _second()
    for path in filter(None, os.environ.get("LCOV_VERSIONS", "").split(":")):
        yield Path(path).name, Path(path) / "bin"


class Lcov:
    """The commands of one version."""

    def __init__(self, name: str, commands: Path) -> None:
        self.commands = commands
        self.first = name == "first"
        for module in _MODULES:
            unpacked(module)
        self.variables = {**os.environ, **environment("lcov", *_MODULES)}
        library = commands.parent / "lib"
        places = [str(library), str(library / "lcov"), self.variables.get("PERL5LIB", "")]
        self.variables["PERL5LIB"] = os.pathsep.join(places)

    def __call__(self, command: str, *arguments: str, folder: Path) -> str:
        setting = ("--rc", "lcov_branch_coverage=1") if self.first else ("--branch-coverage",)
        done = subprocess.run(
            [str(self.commands / command), *setting, *arguments],
            cwd=folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def versions() -> dict[str, Lcov]:
    return {name: Lcov(name, path) for name, path in _versions()}


def _rust(level: str, folder: Path) -> Path:
    (folder / "main.rs").write_text(_RUST)
    from tests.native.building import must

    must(
        "rustc",
        "-g",
        "-C",
        f"opt-level={level[-1]}",
        "main.rs",
        "-o",
        "program",
        cwd=folder,
        env=rust_environment(),
    )
    must("run", "--quiet", "-o", f"rust{level}.trod", "./program", cwd=folder)
    path = folder / f"rust{level}.info"
    must("export", "--format", "lcov", f"rust{level}.trod", "-o", str(path), cwd=folder)
    return path


@pytest.fixture(scope="module", params=[*PROGRAMS, "rust"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The tracefiles of one program without and with optimisation."""
    folder = tmp_path_factory.mktemp("exported")
    make = {name: lambda level, where, name=name: tracefile(name, level, where) for name in PROGRAMS}
    build = make.get(request.param, _rust)
    return build("-O0", folder), build("-O2", folder)


def _totals(printed: str) -> dict[str, tuple[int, int]]:
    found = re.findall(r"^\s*(\w+)\.+: .*\((\d+) of (\d+) ", printed, re.MULTILINE)
    return {name: (int(covered), int(total)) for name, covered, total in found}


def _expected(path: Path) -> dict[str, tuple[int, int]]:
    text = path.read_text()
    functions = re.findall(r"^FNDA:(\d+),", text, re.MULTILINE)
    lines, branches = totals_of(text)
    entered = sum(count != "0" for count in functions)
    return {"lines": lines, "branches": branches, "functions": (entered, len(functions))}


def test_summaries_agree(exported: tuple[Path, Path], versions: dict[str, Lcov]) -> None:
    for path in exported:
        for lcov in versions.values():
            found = _totals(lcov("lcov", "--summary", path.name, folder=path.parent))
            assert found["lines"] == _expected(path)["lines"]
            assert found.get("branches", (0, 0)) == _expected(path)["branches"]
            if lcov.first:
                assert found["functions"] == _expected(path)["functions"]


def test_pages_are_generated(exported: tuple[Path, Path], versions: dict[str, Lcov]) -> None:
    for path in exported:
        for name, lcov in versions.items():
            pages = path.parent / f"{path.stem}-{name}"
            lcov("genhtml", "--output-directory", str(pages), path.name, folder=path.parent)
            assert (pages / "index.html").is_file()


def test_tracefiles_are_joined(exported: tuple[Path, Path], versions: dict[str, Lcov]) -> None:
    plain, optimised = exported
    for lcov in versions.values():
        for one, other in ((plain, plain), (plain, optimised)):
            words = ("--add-tracefile", one.name, "--add-tracefile", other.name, "--output-file", "sum.info")
            lcov("lcov", *words, folder=plain.parent)
            text = (plain.parent / "sum.info").read_text()
            assert _lines(text) == _sum(_lines(one.read_text()), _lines(other.read_text()))
            found, most = totals_of(text).branches[1], totals_of(one.read_text()).branches[1]
            assert found == most if one == other else found >= most


def _lines(text: str) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for path, section in re.findall(r"SF:(.*)\n((?:.*\n)*?)end_of_record\n", text):
        for line, count in re.findall(r"^DA:(\d+),(\d+)", section, re.MULTILINE):
            found[path, line] = int(count)
    return found


def _sum(one: dict[tuple[str, str], int], other: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    return {line: one.get(line, 0) + other.get(line, 0) for line in {*one, *other}}
