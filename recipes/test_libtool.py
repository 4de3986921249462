"""Autotools and libtool with a shared library: popt, whose programs in the build directory are scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.build.fetching import unpacked
from bench.suite.model import Archive
from recipes.debian import WORK
from tests.recipes import commands, cook
from trodden.profile.store.trod import load

POPT = Archive(
    "apt",
    "popt",
    "popt_1.19+dfsg.orig.tar.xz",
    "4cd0cd2963d0c4078f65949599d97135c15ee6c09cf3a36a9a1b2753025bb06b",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build directory after the recipe of autotools, which ends with the project's own tests."""
    directory = tmp_path_factory.mktemp("popt")
    configure = unpacked(POPT, "popt-1.19", WORK) / "configure"
    text = commands("Autotools")
    assert "./configure " in text
    text = text.replace("./configure ", f"{configure} --quiet --disable-nls --disable-static CFLAGS=-g ")
    cook(text, directory)
    return directory


def _programs(path: Path) -> dict[str, bool]:
    """The programs of a profile by name, and whether they are libraries."""
    return {Path(each.path).name: each.library for each in load(path).programs}


def test_the_suite_covers_the_library(built: Path) -> None:
    found = _programs(built / "trodden.trod")
    assert found == {"test1": False, "test3": False, "libpopt.so.0.0.2": True}
    profile = load(built / "trodden.trod")
    assert profile.functions["poptGetNextOpt"].entries > 50
    assert not profile.messages
    assert not any(function.violations for function in profile.functions.values())
    assert not list(built.rglob("*.raw"))
    assert "popt.c" in cook("trodden coverage --program libpopt.so.0.0.2 trodden.trod", built)


@pytest.mark.parametrize("start", ["", "./libtool --mode=execute "], ids=["script", "libtool"])
def test_a_program_of_the_build_directory(built: Path, tmp_path: Path, start: str) -> None:
    path = tmp_path / "one.trod"
    assert cook(f"{start}trodden run -o {path} tests/test1 --arg1", built) == "arg1: 1 arg2: (none)\n"
    assert _programs(path) == {"test1": False, "libpopt.so.0.0.2": True}
    assert load(path).functions["poptGetContext"].entries == 1


def test_an_installed_library_is_the_same(built: Path, tmp_path: Path) -> None:
    """Another program, linked by another compiler, with the library where it was installed."""
    (tmp_path / "own.c").write_text(
        "#include <popt.h>\n"
        "int main(int argc, const char **argv) {\n"
        "    struct poptOption none[] = {POPT_TABLEEND};\n"
        '    poptContext context = poptGetContext("own", argc, argv, none, 0);\n'
        "    int end = poptGetNextOpt(context);\n"
        "    poptFreeContext(context);\n"
        "    return end != -1;\n"
        "}\n"
    )
    cook(f"make install DESTDIR={tmp_path}/root", built)
    place = f"{tmp_path}/root/usr/local"
    cook(
        f"gcc own.c -I{place}/include -L{place}/lib -Wl,-rpath,{place}/lib -lpopt -o own\ntrodden run ./own",
        tmp_path,
    )
    assert load(tmp_path / "trodden.trod").functions["poptGetNextOpt"].entries == 1
    assert _programs(tmp_path / "trodden.trod") == {"own": False, "libpopt.so.0.0.2": True}
