"""``trodden run`` of scripts, interpreters and build tools: several programs and libraries in one profile."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import trodden as api
from tests.native.building import execute, must, trodden
from trodden.collect.programs import ProgramFile, program_names
from trodden.collect.rawfile.model import Ending
from trodden.errors import InputMissing, NotInstrumented, UsageError
from trodden.profile.store.trod import load
from trodden.source.lines import line_counts

WORK = """int work(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i % 3;
    return s;
}
"""
PROGRAM = """#include <stdlib.h>
int work(int n);
static int twice(int n) { return n > 1 ? 2 * n : n; }
int main(int argc, char **argv) {
    return work(twice(argc > 1 ? atoi(argv[1]) : ROUNDS)) < 0;
}
"""
TWO = """int two(int n) {
    return n > 2 ? n : 0;
}
int call(int (*back)(int), int n) {
    int last = 0;
    while (n--)
        last = back(n);
    return last;
}
"""
ENDINGS = """import ctypes, multiprocessing, os, sys

library = ctypes.CDLL(sys.argv[1])

def end(number):
    if number == 2:
        os._exit(0)
    return library.two(number)

def work(rounds):
    library.call(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(end), rounds)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[2])
    children = [context.Process(target=work, args=(rounds,)) for rounds in (2, 2, 6)]
    for child in children:
        child.start()
    for child in children:
        child.join()
"""
HOST = """import ctypes, multiprocessing, sys, threading

work, two = ctypes.CDLL(sys.argv[1]).work, ctypes.CDLL(sys.argv[2]).two
work(5)
two(3)
threads = [threading.Thread(target=work, args=(7,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
children = [multiprocessing.get_context("fork").Process(target=work, args=(n,)) for n in range(5)]
for child in children:
    child.start()
for child in children:
    child.join()
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs with functions of the same names, and a library that both load; another library."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "work.c").write_text(WORK)
    (folder / "two.c").write_text(TWO)
    (folder / "one.c").write_text(PROGRAM.replace("ROUNDS", "3"))
    (folder / "other.c").write_text(PROGRAM.replace("ROUNDS", "4"))
    (folder / "host.py").write_text(HOST)
    for name in ("work", "two"):
        must("cc", "-fPIC", "-shared", f"{name}.c", "-o", f"lib{name}.so", cwd=folder)
    for name in ("one", "other"):
        must("cc", f"{name}.c", "-L.", "-lwork", f"-Wl,-rpath,{folder}", "-o", name, cwd=folder)
    return folder


@pytest.fixture(scope="session")
def suite(built: Path) -> Path:
    """The profile of a script, without a line that names its interpreter, that runs both programs."""
    script = built / "check"
    script.write_text("set -e\n./one 5\n./other\n./other 6\n")
    script.chmod(0o755)
    assert must("run", "-o", "suite.trod", "./check", cwd=built) == ""
    return built / "suite.trod"


def test_several_programs_by_name(suite: Path, built: Path) -> None:
    profile = load(suite)
    assert profile.program == "./check"
    names = dict(zip(program_names(profile.programs), profile.programs, strict=True))
    assert {name: (each.library, each.processes) for name, each in names.items()} == {
        "one": (False, 1),
        "other": (False, 2),
        "libwork.so": (True, 3),
    }
    assert sum(each.executed for each in profile.programs if not each.library) == sum(
        sum(function.counted_blocks[:-1]) for function in profile.functions.values()
    )
    entries = {name.replace(f"{built}/", ""): each.entries for name, each in profile.functions.items()}
    assert entries == {"work": 3, "one.c:main": 1, "one.c:twice": 1, "other.c:main": 2, "other.c:twice": 2}
    assert {Path(process.program).name for process in profile.processes} == {"one", "other"}


def test_the_report_has_a_line_for_each_program(suite: Path) -> None:
    rows = [
        line.split("\t") for line in must("report", suite, "--format", "tsv", cwd=suite.parent).splitlines()
    ]
    found = {row[1]: row[3:7] for row in rows if row[0] == "program"}
    assert found == {
        "one": ["program", "1", "2", "2"],
        "other": ["program", "2", "2", "2"],
        "libwork.so": ["library", "3", "1", "1"],
    }
    shares = [float(row[8]) for row in rows if row[0] == "program" and row[3] == "program"]
    assert abs(sum(shares) - 1) < 1e-5
    table = must("report", suite, "--format", "table", "--top", "5", cwd=suite.parent)
    assert "Programs" in table
    assert "libwork.so  library" in table
    document = json.loads(must("export", suite, "--format", "json", cwd=suite.parent))
    assert [each["name"] for each in document["programs"]] == ["one", "libwork.so", "other"]
    programs = {each["name"]: each["programs"] for each in document["functions"] if each["line"] == 1}
    assert programs == {"work": ["libwork.so"]}


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("one", {"work": 1, "main": 1, "twice": 1}),
        ("other", {"work": 2, "main": 2, "twice": 2}),
        ("libwork.so", {"work": 3}),
    ],
)
def test_one_program_of_several(suite: Path, name: str, entries: dict[str, int]) -> None:
    document = json.loads(must("report", suite, "--program", name, "--format", "json", cwd=suite.parent))
    assert {row["name"]: row["entries"] for row in document["functions"]} == entries
    assert document["notes"] == []
    assert all(0 < row["share"] <= 1 for row in document["programs"])


def test_a_program_that_is_not_there(suite: Path) -> None:
    done = trodden("report", suite, "--program", "third", cwd=suite.parent)
    assert done.returncode == UsageError.status
    assert done.stderr.endswith("there is no program third; it has one, libwork.so, other\n")


def test_a_process_of_several_programs(suite: Path) -> None:
    process = next(each for each in load(suite).processes if each.program.endswith("/one"))
    document = json.loads(
        must("report", suite, "--process", process.name, "--format", "json", cwd=suite.parent)
    )
    assert [row["name"] for row in document["programs"]] == ["one", "libwork.so"]
    ran = {row["name"].rpartition(":")[2] for row in document["functions"] if row["entries"]}
    assert ran == {"work", "main", "twice"}


def test_profiles_of_different_programs_are_merged(built: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        must("run", "-q", "-o", f"{name}.trod", built / name, cwd=tmp_path)
    assert must("merge", "one.trod", "other.trod", "-o", "both.trod", cwd=tmp_path) == ""
    both = load(tmp_path / "both.trod")
    assert both.merged == 2
    assert {Path(each.path).name: each.processes for each in both.programs} == {
        "one": 1,
        "libwork.so": 2,
        "other": 1,
    }
    assert both.functions["work"].entries == 2
    document = json.loads(must("report", "both.trod", "--program", "one", "--format", "json", cwd=tmp_path))
    assert {row["name"] for row in document["functions"]} == {"main", "twice"}
    assert document["notes"] == ["what one executed in libraries is not known of a merged profile"]


def test_libraries_in_a_host_without_probes(built: Path, tmp_path: Path) -> None:
    """Each library leads itself, in threads and forked children too, and all are one process each."""
    command = [sys.executable, str(built / "host.py"), str(built / "libwork.so"), str(built / "libtwo.so")]
    must("run", "-q", "-o", "host.trod", *command, cwd=tmp_path)
    profile = load(tmp_path / "host.trod")
    assert len(profile.processes) == 6
    host = os.path.realpath(sys.executable)
    assert {process.program for process in profile.processes} == {host}
    assert {Path(each.path).name: (bool(each.units), each.processes) for each in profile.programs} == {
        Path(host).name: (False, 6),
        "libwork.so": (True, 6),
        "libtwo.so": (True, 6),
    }
    work = profile.functions["work"]
    assert (work.entries, profile.functions["two"].entries) == (1 + 4 + 5, 1)
    assert max(work.counted_blocks) == (5 + 1) + 4 * (7 + 1) + sum(n + 1 for n in range(5))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_preloaded_libraries_see_how_a_host_ends(built: Path, tmp_path: Path, method: str) -> None:
    """Two children end after their work, as multiprocessing has them end; one by _exit within a call."""
    (tmp_path / "endings.py").write_text(ENDINGS)
    command = [sys.executable, "endings.py", str(built / "libtwo.so"), method]
    must("run", "-q", "--preload", "-o", "seen.trod", *command, cwd=tmp_path)
    profile = load(tmp_path / "seen.trod")
    assert {process.ending for process in profile.processes} == {Ending.EXIT}
    assert profile.messages == ()
    assert [Path(each.path).name for each in profile.programs if each.library] == ["libtwo.so"]
    call, two = profile.functions["call"], profile.functions["two"]
    assert (call.entries, two.entries) == (3, 2 + 2 + 3)
    counts = line_counts(profile)[str(built / "two.c")]
    assert [counts[line].count for line in (5, 7, 8)] == [3, 2 + 2 + 4, 2]


def test_a_host_that_ends_unseen_says_what_sees_it(built: Path, tmp_path: Path) -> None:
    script = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1]).two(1); os._exit(0)"
    command = [sys.executable, "-c", script, str(built / "libtwo.so")]
    must("run", "-q", "-o", "x.trod", *command, cwd=tmp_path)
    (message,) = load(tmp_path / "x.trod").messages
    assert message.endswith("counts may be off by one for each of them; trodden run --preload sees it")
    assert api.run(command, preload=True).profile.messages == ()


def test_preloading_leaves_other_programs_alone(built: Path, tmp_path: Path) -> None:
    script = f"ls | cat; {built}/one 5; {built}/other; true"
    must("run", "-q", "--preload", "-o", "x.trod", "sh", "-c", script, cwd=tmp_path)
    profile = load(tmp_path / "x.trod")
    assert profile.messages == ()
    assert sorted(Path(each.path).name for each in profile.programs) == ["libwork.so", "one", "other"]


def test_a_command_without_probes_keeps_its_status(tmp_path: Path) -> None:
    (tmp_path / "trodden.trod").write_text("before")
    for status in (0, 3):
        done = trodden("run", "--", "sh", "-c", f"echo ran; exit {status}", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (status, "ran\n")
        assert done.stderr == (
            f"trodden: sh: ended with status {status}, and no program or library with probes has left counts;"
            " no profile was written. Build what it runs with trodden cc (make CC='trodden cc')"
            " (trodden.trod is that of an earlier run)\n"
        )
    assert (tmp_path / "trodden.trod").read_text() == "before"
    asked = trodden("run", "-o", "x.trod", "sh", "-c", "exit 0", cwd=tmp_path)
    assert asked.returncode == NotInstrumented.status
    assert trodden("run", "-o", "x.trod", "sh", "-c", "exit 4", cwd=tmp_path).returncode == 4


def test_from_python(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = api.run(["sh", "-c", f"{built}/one; {built}/other; exit 7"])
    assert run.status == 7
    assert len(run.profile.processes) == 2
    with pytest.raises(NotInstrumented, match="sh: ended with status 0"):
        api.run(["sh", "-c", "exit 0"])
    with pytest.raises(InputMissing, match="no-such-command: no such program"):
        api.run(["no-such-command"])


def test_the_directory_of_the_raw_file_is_made(built: Path, tmp_path: Path) -> None:
    done = execute([str(built / "one")], tmp_path, {"TRODDEN_FILE": "a/b/c/%p.raw"})
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.suffix for path in (tmp_path / "a/b/c").iterdir()] == [".raw"]
    must("collect", "a/b/c", "-o", "x.trod", cwd=tmp_path)
    (tmp_path / "file").write_text("")
    done = execute([str(built / "one")], tmp_path, {"TRODDEN_FILE": "file/x/%p.raw"})
    assert done.returncode == 0
    assert done.stderr.endswith(
        "a part of the path is not a directory; set TRODDEN_FILE to a writable path\n"
    )


@pytest.mark.parametrize(
    "place",
    ["conftest", "sub/conftest.exe", "CMakeFiles/CMakeScratch/TryCompile-x/cmTC_1", "meson-private/t/s.exe"],
)
def test_programs_of_configure_scripts_leave_no_raw_file(built: Path, tmp_path: Path, place: str) -> None:
    program = tmp_path / place
    program.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built / "one", program)
    work = tmp_path / "work"
    work.mkdir()
    assert execute([str(program)], work).returncode == 0
    assert os.listdir(work) == []
    assert execute([str(program)], work, {"TRODDEN_CONFTEST": "on"}).returncode == 0
    assert len(os.listdir(work)) == 1


@pytest.mark.parametrize(
    ("script", "start", "files"),
    [
        ("configure", "./configure", 0),
        ("Configure.sh", "sh -e Configure.sh", 0),
        ("build", "./build", 1),
        ("configure-all", "./configure-all", 1),
    ],
)
def test_what_a_configure_script_has_made_leaves_no_raw_file(
    built: Path, tmp_path: Path, script: str, start: str, files: int
) -> None:
    """Scripts written by hand give their test programs names of their own, as that of zlib does."""
    path = tmp_path / script
    path.write_text(
        f"#!/bin/sh\ncp {built}/one ztest$$\n./ztest$$\n(exec timeout 60 ./ztest$$)\nrm ztest$$\n"
    )
    path.chmod(0o755)
    assert execute(["sh", "-c", f"true; {start}; true"], tmp_path).returncode == 0
    assert len(list(tmp_path.glob("*.raw"))) == 2 * files
    assert execute(["sh", "-c", f"true; {start}; true"], tmp_path, {"TRODDEN_CONFTEST": "on"}).returncode == 0
    assert len(list(tmp_path.glob("*.raw"))) == 2 * files + 2


def test_an_older_program_that_a_configure_script_runs_has_counts(built: Path, tmp_path: Path) -> None:
    shutil.copy2(built / "one", tmp_path / "tool")
    path = tmp_path / "configure"
    path.write_text("#!/bin/sh\nexec 2>&1\n./tool\n")
    path.chmod(0o755)
    assert execute(["./configure"], tmp_path).returncode == 0
    assert len(list(tmp_path.glob("*.raw"))) == 1


def test_programs_that_are_gone_are_one_line(built: Path, tmp_path: Path) -> None:
    for number in range(6):
        program = tmp_path / f"gone{number % 4}"
        shutil.copy2(built / "one", program)
        execute([str(program)], tmp_path)
        program.unlink()
    execute([str(built / "one")], tmp_path)
    done = trodden("collect", ".", cwd=tmp_path)
    notes = [line for line in done.stderr.splitlines() if "note" in line]
    assert len(notes) == 1
    assert notes[0].startswith(
        "trodden: note: 6 raw files: the 4 programs that wrote them are gone, for example"
    )
    assert done.stderr.endswith("trodden.trod: written without 6 raw files, named above\n")
    assert load(tmp_path / "trodden.trod").functions["main"].entries == 1
    script = f"for n in 1 2 3; do cp {built}/one ./t$n && ./t$n && rm t$n; done; {built}/other"
    done = trodden("run", "-o", "x.trod", "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith(
        "trodden: 3 raw files: the 3 programs that wrote them are gone, for example"
    )
    assert done.stderr.count("\n") == 1


def test_names_of_programs() -> None:
    paths = ["/x/a/run", "/x/b/run", "/y/lone", "run"]
    programs = [ProgramFile(path, False, ()) for path in paths]
    assert program_names(programs) == ("a/run", "b/run", "lone", "run")
