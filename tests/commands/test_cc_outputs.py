"""What ``trodden cc`` leaves on disk: outputs, their modes, and nothing after a failure."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.commands.two_parts import CLANG, functions
from tests.native.building import execute, must, trodden
from trodden.errors import InputMissing


def test_missing_object_at_a_link(work: Path) -> None:
    done = trodden("cc", "main.c", "nothing.o", cwd=work)
    assert (done.returncode, len(done.stderr.splitlines())) == (InputMissing.status, 1)


@pytest.mark.parametrize("words", [["-c", "bad.c"], ["bad.c"], ["main.c"]])
def test_a_failure_leaves_the_output_as_it_was(work: Path, words: list[str]) -> None:
    (work / "bad.c").write_text("int f( {\n")
    (work / "out").write_text("before")
    before = set(os.listdir(work))
    done = trodden("cc", *words, "-o", "out", cwd=work)
    assert done.returncode == 1
    # What is wrong with a source is the compiler's to say; another linker may accept what this one does not.
    assert ("trodden:" in done.stderr) == (words == ["main.c"])
    assert "error" in done.stderr
    assert (work / "out").read_text() == "before"
    assert set(os.listdir(work)) == before


def test_diagnostics_are_the_compilers_own(work: Path) -> None:
    (work / "bad.c").write_text("int f(void) { return y; }\n")
    ours = trodden("cc", "-c", "bad.c", cwd=work)
    its = execute([*CLANG, "-c", "bad.c"], work)
    assert (ours.returncode, ours.stderr, ours.stdout) == (its.returncode, its.stderr, its.stdout)


def test_an_output_behind_a_link_and_one_that_is_there(work: Path) -> None:
    (work / "real.o").write_text("old")
    (work / "part.o").symlink_to("real.o")
    must("cc", "-c", "part.c", cwd=work)
    assert (work / "part.o").is_symlink()
    assert functions(work / "real.o") == {"part"}


def test_modes_of_outputs(work: Path) -> None:
    must("cc", "-c", "part.c", cwd=work)
    must("cc", "main.c", "part.o", "-o", "program", cwd=work)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((work / "part.o").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((work / "program").stat().st_mode) == 0o777 & ~mask


def test_a_temporary_directory_that_is_not_there(work: Path) -> None:
    must("cc", "-c", "part.c", cwd=work, env={"TMPDIR": "/no/such/place"})
    assert functions(work / "part.o") == {"part"}


def test_a_cache_that_cannot_be_written(work: Path) -> None:
    (work / "file").write_text("")
    temporary = work / "temporary"
    temporary.mkdir()
    changes = {"TRODDEN_CACHE": str(work / "file"), "TMPDIR": str(temporary)}
    must("cc", "-c", "part.c", cwd=work, env=changes)
    assert functions(work / "part.o") == {"part"}
    assert [path.name for path in temporary.iterdir()] == [f"trodden-cache-{os.getuid()}"]
