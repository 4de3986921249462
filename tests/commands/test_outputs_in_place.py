"""A result does not replace the file that it is made of, whatever that file is called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.native.building import must, trodden
from trodden.errors import UsageError

PROGRAM = "int main(int argc, char **argv) { while (argc < 5) argc++; return 0; }\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile with a trace and its raw file, and other names of both."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "p.c").write_text(PROGRAM)
    must("cc", "--trodden-profile=trace", "-O0", "p.c", "-o", "p", cwd=folder)
    must("run", "--quiet", "-o", "t.trod", "./p", cwd=folder)
    (folder / "raws").mkdir()
    environment = {**os.environ, "TRODDEN_FILE": str(folder / "raws" / "r.raw")}
    assert os.spawnve(os.P_WAIT, folder / "p", ["p"], environment) == 0
    os.link(folder / "t.trod", folder / "hard.trod")
    os.symlink("t.trod", folder / "soft.trod")
    return folder


@pytest.mark.parametrize("output", ["t.trod", "./t.trod", "hard.trod", "soft.trod"])
@pytest.mark.parametrize(
    "words",
    [
        ("profile-of", "t.trod"),
        ("profile-of", "t.trod", "--profile", "paths"),
        ("export", "t.trod"),
        ("export", "t.trod", "--format", "perfetto"),
        ("show", "t.trod"),
        ("merge", "p.trod", "t.trod"),
        ("estimate", "t.trod"),
        ("calibrate", "t.trod"),
    ],
)
def test_a_profile_is_not_replaced(made: Path, words: tuple[str, ...], output: str) -> None:
    if not (made / "p.trod").exists():
        must("profile-of", "t.trod", "-o", "p.trod", cwd=made)
    before = (made / "t.trod").read_bytes()
    done = trodden(*words, "-o", output, cwd=made)
    assert done.returncode == UsageError.status
    assert done.stderr == (
        f"trodden: -o {output}: would replace t.trod, which it is made of; name another file with -o\n"
    )
    assert (made / "t.trod").read_bytes() == before


@pytest.mark.parametrize("given", ["raws", "raws/r.raw"])
@pytest.mark.parametrize("output", ["raws/r.raw", "raws/r.raw.trace", "p"])
def test_raw_files_and_programs_are_not_replaced(made: Path, given: str, output: str) -> None:
    before = (made / output).read_bytes()
    done = trodden("collect", given, "--program", "p", "-o", output, cwd=made)
    assert done.returncode == UsageError.status
    assert f"-o {output}: would replace {output}" in done.stderr
    assert (made / output).read_bytes() == before


def test_another_file_is_replaced(made: Path, tmp_path: Path) -> None:
    for _ in range(2):
        must("profile-of", "t.trod", "-o", tmp_path / "o.trod", cwd=made)
    must("merge", tmp_path / "o.trod", "t.trod", "-o", tmp_path / "o.trod", cwd=made)
