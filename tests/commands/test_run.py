"""``trodden run``: the program as it would have been, and a profile beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.native.building import TRODDEN, environment, must, trodden
from trodden.errors import CannotWrite, InputMissing, NotInstrumented, UsageError
from trodden.native.options.declarations import COUNTER_SCHEMES
from trodden.profile.store.trod import load
from trodden.source.lines import line_counts

ECHO = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
int main(int argc, char **argv) {
    int c, status = 0;
    while ((c = getchar()) != EOF)
        putchar(c);
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "status=", 7))
            status = atoi(argv[i] + 7);
        else
            fprintf(stderr, "[%s]", argv[i]);
    }
    fflush(stdout);
    if (argc > 1 && !strncmp(argv[1], "signal=", 7))
        raise(atoi(argv[1] + 7));
    return status;
}
"""


@pytest.fixture(scope="session")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built program that repeats its input and ends as its arguments say."""
    directory = tmp_path_factory.mktemp("echo")
    (directory / "echo.c").write_text(ECHO)
    must("cc", "echo.c", "-o", "echo", cwd=directory)
    return directory / "echo"


def test_streams_and_arguments_are_the_programs_own(echo: Path, tmp_path: Path) -> None:
    content = bytes(range(1, 128)) * 100
    words = ["-o", "--", "a b", "", "--report"]
    done = subprocess.run(
        [*TRODDEN, "run", "-o", "x.trod", str(echo), *words],
        cwd=tmp_path,
        env=environment(),
        input=content,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, content)
    assert done.stderr == "".join(f"[{word}]" for word in words).encode()
    lines = line_counts(load(tmp_path / "x.trod"))[str(echo) + ".c"]
    assert lines[8].count == len(content)
    assert os.listdir(tmp_path) == ["x.trod"]


@pytest.mark.parametrize("status", [0, 1, 2, 90, 127, 128, 255])
def test_status(echo: Path, tmp_path: Path, status: int) -> None:
    done = trodden("run", echo, f"status={status}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (status, "")
    assert load(tmp_path / "trodden.trod").functions["main"].entries == 1


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_killed(echo: Path, tmp_path: Path, number: signal.Signals) -> None:
    """What was counted until then is there; only of SIGKILL nobody knows where main was."""
    (tmp_path / "x.trod").write_text("before")
    done = trodden("run", "-o", "x.trod", echo, f"signal={int(number)}", cwd=tmp_path, stdin=b"seen")
    assert (done.returncode, done.stdout) == (-number, "seen")
    assert done.stderr == f"[signal={int(number)}]"
    profile = load(tmp_path / "x.trod")
    lines = {line: found.count for line, found in line_counts(profile)[str(echo) + ".c"].items()}
    expected = {6: 1, 7: 5, 8: 4, 9: 2, 10: 1, 11: 0, 13: 1, 15: 1, 16: 1, 17: 1, 18: 0}
    slack = 1 if number == signal.SIGKILL else 0
    assert all(abs(lines[line] - count) <= slack for line, count in expected.items())
    assert len(profile.messages) == 1


WAITING = """#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t got;
static void handler(int number) { got = number; }
int main(void) {
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 100 && !got; i++)
        usleep(100000);
    printf("got %d\\n", got);
    return got;
}
"""


@pytest.fixture(scope="session")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built program that waits for a signal."""
    directory = tmp_path_factory.mktemp("waiting")
    (directory / "waiting.c").write_text(WAITING)
    must("cc", "waiting.c", "-o", "waiting", cwd=directory)
    return directory / "waiting"


@pytest.mark.parametrize("to_group", [signal.SIGINT, None])
def test_signals_from_outside(waiting: Path, tmp_path: Path, to_group: signal.Signals | None) -> None:
    process = subprocess.Popen(
        [*TRODDEN, "run", str(waiting)],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if to_group is not None:
        os.killpg(process.pid, to_group)
    else:
        process.terminate()
    output, errors = process.communicate(timeout=30)
    number = int(to_group or signal.SIGTERM)
    assert (process.returncode, output, errors) == (number, f"got {number}\n", "")
    assert load(tmp_path / "trodden.trod").functions["handler"].entries == 1


def test_a_signal_that_ends_program_and_run(tmp_path: Path) -> None:
    (tmp_path / "sleeper.c").write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        'int main(void) { puts("up"); fflush(stdout); sleep(30); return 0; }\n'
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*TRODDEN, "run", "sleeper.c"],
        cwd=tmp_path,
        env=environment({"TMPDIR": str(temporary)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT
    assert time.monotonic() - began < 15
    assert os.listdir(temporary) == []


# From sources


SQUARE = "int square(int n) { return n * n; }\n"
USE = """#include <stdio.h>
int square(int);
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < LIMIT; i++)
        sum += square(i);
    printf("%d %d %s\\n", sum, argc, argc > 1 ? argv[1] : "");
    return 0;
}
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "use.c").write_text(USE)
    (tmp_path / "square.c").write_text(SQUARE)
    return tmp_path


def test_several_sources_flags_and_arguments(sources: Path) -> None:
    words = ["use.c", "square.c", "-O1", "-DLIMIT=5", "--", "-o", "--"]
    done = trodden("run", "-o", "x.trod", *words, cwd=sources)
    assert (done.returncode, done.stdout, done.stderr) == (0, "30 3 -o\n", "")
    profile = load(sources / "x.trod")
    assert profile.functions["square"].entries == 5
    assert profile.functions["main"].entries == 1
    assert sorted(os.listdir(sources)) == ["square.c", "use.c", "x.trod"]


@pytest.mark.parametrize("stage", ["late", "early"])
@pytest.mark.parametrize("counters", COUNTER_SCHEMES)
def test_every_scheme_counts_the_same(sources: Path, counters: str, stage: str) -> None:
    own = ["--counters", counters, "--stage", stage]
    done = trodden("run", *own, "use.c", "square.c", "-DLIMIT=7", cwd=sources)
    assert (done.returncode, done.stdout, done.stderr) == (0, "91 1 \n", "")
    main = load(sources / "trodden.trod").functions["main"]
    assert sorted(main.block_counts[:-1]) == [0, 1, 1, 1, 1, 7, 7, 8]
    assert main.violations == ()


def test_weights_of_an_earlier_run(sources: Path) -> None:
    words = ["use.c", "square.c", "-DLIMIT=9", "-O1"]
    assert trodden("run", "-o", "first.trod", *words, cwd=sources).returncode == 0
    assert trodden("run", "-o", "second.trod", "--weights", "first.trod", *words, cwd=sources).returncode == 0
    first, second = load(sources / "first.trod"), load(sources / "second.trod")
    for name, function in first.functions.items():
        assert second.functions[name].block_counts == function.block_counts
        assert second.functions[name].edge_counts == function.edge_counts


def test_cxx_sources(tmp_path: Path) -> None:
    (tmp_path / "hello.cc").write_text(
        '#include <iostream>\nstruct D { ~D() { std::cout << "gone\\n"; } };\nstatic D d;\n'
        "int main() { try { throw 3; } catch (int n) { return n; } }\n"
    )
    done = trodden("run", "hello.cc", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "gone\n", "")
    functions = load(tmp_path / "trodden.trod").functions.values()
    assert [f.entries for f in functions if f.facts.linkage_name == "_ZN1DD2Ev"] == [1]


def test_the_report_goes_to_standard_error(sources: Path) -> None:
    done = trodden("run", "--report", "use.c", "square.c", "-DLIMIT=4", cwd=sources)
    assert (done.returncode, done.stdout) == (0, "14 1 \n")
    assert "square" in done.stderr
    assert trodden("run", "--quiet", "use.c", "square.c", "-DLIMIT=4", cwd=sources).stderr == ""


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["-o", "x.trod", "/bin/sh", "-c", "exit 0"], NotInstrumented.status),
        (["--report", "/bin/sh", "-c", "exit 0"], NotInstrumented.status),
        (["./use.txt"], InputMissing.status),
        (["nothing"], InputMissing.status),
        (["--"], UsageError.status),
        (["./nothing"], InputMissing.status),
        (["nothing.c"], InputMissing.status),
        (["use.c", "./nothing.o"], InputMissing.status),
        ([], UsageError.status),
        (["-o"], UsageError.status),
        (["--stage"], UsageError.status),
        (["--stage=x", "square.c"], UsageError.status),
        (["-O2"], UsageError.status),
        (["--weights", "nothing.trod", "square.c"], InputMissing.status),
    ],
)
def test_bad_input(sources: Path, words: list[str], status: int) -> None:
    (sources / "use.txt").write_text("text")
    (sources / "trodden.trod").write_text("before")
    done = trodden("run", *words, cwd=sources)
    assert done.returncode == status
    assert "ran" not in done.stdout.split()
    if words:
        assert done.stdout == ""
        assert done.stderr.startswith("trodden: ")
        assert len(done.stderr.splitlines()) == 1
    assert (sources / "trodden.trod").read_text() == "before"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--profle", "paths", "square.c"], "--profle: no such option; did you mean --profile?"),
        (
            ["--profile", "path", "square.c"],
            "--profile=path: choose one of edges, blocks, paths, trace, off; did",
        ),
        (["--max-paths", "9", "square.c"], "--max-paths: goes with --profile=paths"),
        (["square.c", "--trodden-stge=late"], "--trodden-stge: no such option; did you mean"),
        (["--stage", "early", "./use.c.o"], "--stage=early: is for sources; ./use.c.o is run as it is"),
        (
            ["square.c", "-O2", "argument", "7"],
            "argument: no such file, and no source, object or library; arguments of the program go after --:"
            " trodden run square.c -O2 -- argument 7",
        ),
        (["square.c", "notes.txt"], "notes.txt: no source, object or library; arguments of the program go"),
        (["square.c", "-h"], "-h: arguments of the program go after --: trodden run square.c -- -h; for the"),
        (["square.c", "-O1", "--help"], "--help: arguments of the program go after --: trodden run square.c"),
        (["-c", "square.c"], "-c: makes no program that could be run; use trodden cc, or put arguments"),
        (["square.c", "--version"], "--version: makes no program that could be run; use trodden cc, or"),
        (["square.c", "--profil", "paths"], "--profil: no such option; did you mean --profile?"),
    ],
)
def test_options_are_named_as_they_were_given(sources: Path, words: list[str], message: str) -> None:
    (sources / "notes.txt").write_text("")
    done = trodden("run", *words, cwd=sources)
    assert done.returncode in (UsageError.status, InputMissing.status)
    assert done.stderr.startswith(f"trodden: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("language", "program"),
    [("c", "int main(void) { return 7; }"), ("c++", "int main() { auto seven = 7; return seven; }")],
)
def test_a_source_from_standard_input(tmp_path: Path, language: str, program: str) -> None:
    command = [*TRODDEN, "run", "-q", "-x", language, "-", "-O1", "-o", "x.trod"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), input=program, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    assert load(tmp_path / "x.trod").functions["main"].entries == 1


def test_flags_of_the_compilers_are_understood_too(sources: Path) -> None:
    words = ["--stage", "late", "use.c", "square.c", "--trodden-stage=early", "-DLIMIT=3"]
    assert trodden("run", *words, cwd=sources).returncode == 0
    assert {unit.stage for unit in load(sources / "trodden.trod").units} == {"early"}


def test_usage(sources: Path) -> None:
    for verb in ("run", "cargo"):
        done = trodden(verb, "--help", cwd=sources)
        assert (done.returncode, done.stderr) == (0, "")
        assert "  --max-paths N|none " in done.stdout
        assert trodden(verb, cwd=sources).returncode == UsageError.status


def test_a_compilers_error_is_its_own(sources: Path) -> None:
    (sources / "bad.c").write_text("int main(void) { return y; }\n")
    done = trodden("run", "bad.c", cwd=sources)
    assert done.returncode == 1
    assert done.stderr.startswith("bad.c:1:")
    assert "trodden" not in done.stderr
    assert not (sources / "trodden.trod").exists()


@pytest.mark.parametrize("output", ["nowhere/x.trod", "."])
def test_a_profile_that_cannot_be_written(echo: Path, tmp_path: Path, output: str) -> None:
    """It is said before the program runs: what an hour's run has counted must not be thrown away."""
    done = trodden("run", "-o", output, echo, cwd=tmp_path, stdin=b"not yet")
    assert (done.returncode, done.stdout) == (CannotWrite.status, "")
    assert done.stderr.startswith(f"trodden: {output}")
    assert len(done.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == []


def test_found_on_the_path(echo: Path, tmp_path: Path) -> None:
    path = f"{echo.parent}{os.pathsep}{os.environ['PATH']}"
    done = trodden("run", "echo", "status=9", cwd=tmp_path, env={"PATH": path})
    assert (done.returncode, done.stderr) == (9, "")


def test_nothing_is_left_in_the_temporary_directory(sources: Path) -> None:
    temporary = sources / "temporary"
    temporary.mkdir()
    changes = {"TMPDIR": str(temporary)}
    assert trodden("run", "use.c", "square.c", "-DLIMIT=2", cwd=sources, env=changes).returncode == 0
    assert os.listdir(temporary) == []
