"""Coverage of whole test suites beside gcovr's on the same tests: cJSON, zlib and GNU hello.

Each is built twice without optimisation, by gcc with ``--coverage`` and by ``trodden-cc``, and its own tests
are run, by ``trodden run ctest``, ``trodden run make test`` and ``trodden run make check``.  Lines and
branches are compared over the files that both know; gcov also knows those that were compiled and never linked
into a program that ran.  docs/recipes.md says what differs, and why.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.build.fetching import unpacked
from bench.suite.model import Archive
from recipes.debian import WORK, command

_BIN = Path(sys.executable).parent
_MOST = 0.01
"""How far the shares may be apart."""


@dataclass(frozen=True)
class Suite:
    """A package of Debian, and the commands that build and test it, with ``{cc}`` and ``{flags}`` in them."""

    archive: Archive
    directory: str
    build: tuple[str, ...]
    test: str
    tested_in: str = "."


SUITES = {
    "cjson": Suite(
        Archive(
            "apt",
            "cjson",
            "cjson_1.7.15.orig.tar.gz",
            "5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2",
        ),
        "cJSON-1.7.15",
        (
            "cmake -S . -B build -DENABLE_CJSON_UTILS=On -DENABLE_CUSTOM_COMPILER_FLAGS=Off"
            " -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DCMAKE_C_COMPILER={cc} '-DCMAKE_C_FLAGS={flags}'",
            "cmake --build build",
        ),
        "ctest",
        "build",
    ),
    "zlib": Suite(
        Archive(
            "apt",
            "zlib",
            "zlib_1.2.13.dfsg.orig.tar.bz2",
            "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
        ),
        "zlib-1.2.13.dfsg",
        ("sh -c 'CC={cc} CFLAGS=\"{flags}\" ./configure --static'", "make"),
        "make test",
    ),
    "hello": Suite(
        Archive(
            "apt",
            "hello",
            "hello_2.10.orig.tar.gz",
            "31e066137a962676e89f69d1b65382de95a7ef7d914b8cb956f41ea72e0f516b",
        ),
        "hello-2.10",
        (
            "./configure --disable-nls --disable-dependency-tracking CC={cc} 'CFLAGS={flags}'",
            "make",
        ),
        "make check",
    ),
}


def _shell(line: str, folder: Path) -> None:
    path = f"{_BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        line,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


Counts = dict[str, tuple[dict[int, bool], list[bool]]]
"""For each file, below the directory of the package: its lines, and the outcomes of its branches."""


def _by_gcovr(folder: Path) -> Counts:
    for left_over in folder.rglob("*conftest.gc*"):
        left_over.unlink()
    _shell("gcovr --root . --json counts.json", folder)
    found: Counts = {}
    for file in json.loads((folder / "counts.json").read_text())["files"]:
        lines: dict[int, bool] = {}
        outcomes: list[bool] = []
        for line in file["lines"]:
            number = line["line_number"]
            lines[number] = lines.get(number, False) or line["count"] > 0
            outcomes += [branch["count"] > 0 for branch in line["branches"] if not branch.get("throw")]
        found[file["file"]] = lines, outcomes
    return found


def _by_trodden(folder: Path) -> Counts:
    _shell("trodden export --format lcov --ignore-markers suite.trod -o suite.info", folder)
    found: Counts = {}
    text = (folder / "suite.info").read_text()
    for path, section in re.findall(r"SF:(.*)\n((?:.*\n)*?)end_of_record\n", text):
        lines = {int(n): c != "0" for n, c in re.findall(r"^DA:(\d+),(\d+)", section, re.M)}
        outcomes = [taken not in ("-", "0") for taken in re.findall(r"^BRDA:.*,(.+)$", section, re.M)]
        found[os.path.relpath(path, folder.resolve())] = lines, outcomes
    return found


def _share(parts: list[bool]) -> float:
    return sum(parts) / len(parts)


@pytest.mark.parametrize("name", SUITES)
def test_coverage_is_that_of_gcovr(
    name: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    suite = SUITES[name]
    source = unpacked(suite.archive, suite.directory, WORK)
    builds = {"gcc": (command("gcc", "gcc"), "-O0 -g --coverage"), "trodden": ("trodden-cc", "-O0 -g")}
    for peer, (compiler, flags) in builds.items():
        folder = tmp_path / peer
        shutil.copytree(source, folder, symlinks=True)
        for line in suite.build:
            _shell(line.format(cc=compiler, flags=flags), folder)
        left = [path.name for path in folder.rglob("*.raw")]
        assert left == [], "a test program of configure has left counts"
        run = f"trodden run --quiet -o {folder}/suite.trod {suite.test}" if peer == "trodden" else suite.test
        _shell(run, folder / suite.tested_in)
    theirs, ours = _by_gcovr(tmp_path / "gcc"), _by_trodden(tmp_path / "trodden")
    both = theirs.keys() & ours.keys()
    assert len(both) > 1
    for kind, parts in (
        ("lines", [[hit for path in both for hit in each[path][0].values()] for each in (theirs, ours)]),
        ("branches", [[hit for path in both for hit in each[path][1]] for each in (theirs, ours)]),
    ):
        gcovr, trodden = map(_share, parts)
        found = [f"{each:.1%} of {len(part):,}" for each, part in zip((gcovr, trodden), parts, strict=True)]
        record_property(f"{name} {kind}", f"gcovr {found[0]}, trodden {found[1]}")
        assert abs(gcovr - trodden) <= _MOST, (kind, *found)
    for path in both:
        (lines, _), (own, _) = theirs[path], ours[path]
        other = [number for number in lines.keys() & own.keys() if lines[number] != own[number]]
        text = (tmp_path / "gcc" / path).read_text("utf-8", "replace").splitlines()
        # A condition over several lines: clang tests an operand where the operator after it stands.
        assert all(text[number - 1].strip().startswith(("&&", "||")) for number in other), (path, other)
