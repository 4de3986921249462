"""A raw file whose trace was left behind: that is said, and nothing is claimed of what was executed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import trodden as library
from tests.native.building import must, trodden
from trodden.errors import InputMissing

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static int used(int x) { return x + 1; }
int main(int argc, char **argv) {
    printf("%d\\n", used(3));
    if (argc > 1)
        abort();
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("missing")
    (folder / "p.c").write_text(PROGRAM)
    must("cc", "--trodden-profile=trace", "-O0", "p.c", "-o", "p", cwd=folder)
    must("cc", "--trodden-profile=trace", "--trodden-counters=checked", "-O0", "p.c", "-o", "c", cwd=folder)
    return folder / "p"


def _run(program: Path, raw: Path, *words: str) -> int:
    """The process id; an aborted process leaves a live file, and ``raw`` is that without its suffix."""
    environment = {**os.environ, "TRODDEN_FILE": str(raw)}
    with subprocess.Popen([program, *words], env=environment, stdout=subprocess.DEVNULL) as running:
        pass
    return running.pid


def _trace_of(raw: Path) -> Path:
    return Path(f"{raw}.trace")


def test_a_missing_trace_is_said_and_nothing_is_claimed(program: Path, tmp_path: Path) -> None:
    pid = _run(program, tmp_path / "r.raw")
    _trace_of(tmp_path / "r.raw").unlink()
    done = trodden("collect", "r.raw", "-o", "r.trod", cwd=tmp_path)
    message = (
        f"process {pid}: its trace r.raw.trace is missing: keep r.raw.trace beside r.raw; what was only"
        " traced is not known"
    )
    assert done.returncode == 0
    assert f"trodden: note: {message}\n" in done.stderr
    assert message in " ".join(must("report", "r.trod", cwd=tmp_path).split())
    for command in ("replay", "query"):
        question = ["enter used"] if command == "query" else []
        question = [f"count {each}" for each in question]
        done = trodden(command, "r.trod", *question, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (InputMissing.status, "")
        assert done.stderr == f"trodden: r.trod: {message}\n"
    assert "#####" not in trodden("annotate", "r.trod", cwd=tmp_path).stdout
    assert "never" not in must("report", "r.trod", cwd=tmp_path)
    must("profile-of", "r.trod", "-o", "e.trod", cwd=tmp_path)
    counted = library.load(tmp_path / "e.trod")
    assert not counted.functions
    assert {each.name for each in counted.skipped} == {"used", "main"}


def test_what_a_killed_process_had_not_written_yet_is_there(program: Path, tmp_path: Path) -> None:
    pid = _run(program, tmp_path / "r.raw", "x")
    _trace_of(tmp_path / "r.raw").unlink()
    done = trodden("collect", "r.raw", "-o", "r.trod", cwd=tmp_path)
    assert f"process {pid}: its trace r.raw.trace is missing: " in done.stderr
    assert "beside r.raw; only the last part is there" in done.stderr
    assert "p.c:3 used" in trodden("replay", "r.trod", cwd=tmp_path).stdout


def test_the_trace_of_another_process_is_not_taken_for_it(program: Path, tmp_path: Path) -> None:
    own = _run(program, tmp_path / "r.raw")
    other = _run(program, tmp_path / "o.raw")
    shutil.copyfile(_trace_of(tmp_path / "o.raw"), _trace_of(tmp_path / "r.raw"))
    done = trodden("collect", "r.raw", "-o", "r.trod", cwd=tmp_path)
    assert done.returncode == 0
    assert f"process {own}: its trace is missing (r.raw.trace is that of process {other})" in done.stderr
    assert library.load(tmp_path / "r.trod").trace.threads == ()


def test_one_of_several_traces_is_missing(program: Path, tmp_path: Path) -> None:
    (tmp_path / "raws").mkdir()
    own = _run(program, tmp_path / "raws" / "r.raw")
    other = _run(program, tmp_path / "raws" / "o.raw")
    _trace_of(tmp_path / "raws" / "o.raw").unlink()
    done = trodden("collect", "raws", "-o", "r.trod", cwd=tmp_path)
    assert done.returncode == 0
    assert f"process {other}: its trace raws/o.raw.trace is missing" in done.stderr
    done = trodden("replay", "r.trod", cwd=tmp_path)
    assert f"process {other}: its trace raws/o.raw.trace is missing" in done.stderr
    assert f"{own}.0 " in done.stdout or f"{own}.1 " in done.stdout
    counted = must("annotate", "r.trod", "--process", str(own), cwd=tmp_path)
    assert "        1      3  static" in counted
    done = trodden("annotate", "r.trod", "--process", str(other), cwd=tmp_path)
    assert done.returncode == InputMissing.status
    assert f"the trace of process {other} is missing" in done.stderr


def test_counters_beside_the_trace_are_still_known(program: Path, tmp_path: Path) -> None:
    _run(program.parent / "c", tmp_path / "r.raw")
    _trace_of(tmp_path / "r.raw").unlink()
    assert trodden("collect", "r.raw", "-o", "r.trod", cwd=tmp_path).returncode == 0
    assert "        1      3  static" in must("annotate", "r.trod", cwd=tmp_path)


def test_a_raw_file_is_merged_with_its_trace(program: Path, tmp_path: Path) -> None:
    _run(program, tmp_path / "r.raw")
    must("merge", "r.raw", "-o", "m.trod", cwd=tmp_path)
    assert library.load(tmp_path / "m.trod").functions["used"].entries == 1
