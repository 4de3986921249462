"""Options of ``trodden cc``'s own, on the command line and in the environment, and mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.two_parts import functions, runs
from tests.native.building import must, trodden
from trodden.collect.binary.program import read_program
from trodden.errors import BadIR, CannotWrite, InputMissing, ToolchainMissing, UsageError


@pytest.mark.parametrize(
    ("option", "probed"),
    [
        ("--trodden-only=part", {"part"}),
        ("--trodden-leave=part", {"main"}),
        ("--trodden-leave=*part.c", {"main"}),
        ("--trodden-only=x,main", {"main"}),
        ("--trodden-profile=off", set()),
        ("--trodden-profile=edges", {"main", "part"}),
        ("--trodden-profile=blocks", {"main", "part"}),
        ("--trodden-toolchain=embedded", {"main", "part"}),
    ],
)
def test_own_options(work: Path, option: str, probed: set[str]) -> None:
    must("cc", option, "main.c", "part.c", "-o", "program", cwd=work)
    runs(work / "program", "3 none\n")
    assert functions(work / "program") == probed
    name, value = option.removeprefix("--trodden-").split("=")
    must("cc", "main.c", "part.c", "-o", "again", cwd=work, env={f"TRODDEN_{name.upper()}": value})
    assert functions(work / "again") == probed


def test_a_flag_outweighs_the_environment(work: Path) -> None:
    must("cc", "--trodden-stage=late", "-c", "part.c", cwd=work, env={"TRODDEN_STAGE": "early"})
    assert {unit.stage for unit in read_program(work / "part.o").units.values()} == {"late"}


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--trodden-profile=x"], UsageError.status),
        (["--trodden-profile"], UsageError.status),
        (["--trodden-counters=x"], UsageError.status),
        (["--trodden-stage=x"], UsageError.status),
        (["--trodden-trip-counts=x"], UsageError.status),
        (["--trodden-what=x"], UsageError.status),
        (["--trodden-weights=nothing.trod"], InputMissing.status),
        (["--trodden-toolchain=no-such"], ToolchainMissing.status),
        (["nothing.c"], InputMissing.status),
        (["directory.c"], InputMissing.status),
        (["main.c", "-o", "x.o"], UsageError.status),
        (["garbage.ll"], BadIR.status),
        (["garbage.bc"], BadIR.status),
        (["newer.bc"], BadIR.status),
        (["-o", "nowhere/part.o"], CannotWrite.status),
        (["-o", "directory.c"], CannotWrite.status),
    ],
)
def test_bad_input_gets_one_line(work: Path, words: list[str], status: int) -> None:
    (work / "directory.c").mkdir()
    (work / "garbage.ll").write_text("define what\n")
    (work / "garbage.bc").write_bytes(b"BC\xc0\xde" + b"?" * 100)
    (work / "newer.bc").write_bytes(b"BC\xc0\xde\x35\x14\x00\x00\x05\x00\x00\x00" + bytes(40))
    (work / "part.o").write_text("what was there")
    sources = [] if words[0].endswith((".ll", ".bc")) else ["part.c"]
    done = trodden("cc", "-c", *words, *sources, cwd=work)
    assert done.returncode == status
    assert done.stdout == ""
    assert done.stderr.startswith("trodden: ")
    assert len(done.stderr.splitlines()) == 1
    assert (work / "part.o").read_text() == "what was there" or status == InputMissing.status


@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        (
            ["--trodden-profil=paths"],
            {},
            "--trodden-profil: no such option; did you mean --trodden-profile?",
        ),
        (["--trodden-stage=erly"], {}, "--trodden-stage=erly: choose late or early; did you mean early?"),
        ([], {"TRODDEN_STAGE": "erly"}, "TRODDEN_STAGE=erly: choose late or early; did you mean early?"),
        (
            [],
            {"TRODDEN_PROFIL": "paths"},
            "TRODDEN_PROFIL: no such variable; did you mean TRODDEN_PROFILE? Unset it, or rename it",
        ),
    ],
)
def test_a_mistyped_option_is_named_with_the_nearest(
    work: Path, words: list[str], variables: dict[str, str], message: str
) -> None:
    done = trodden("cc", *words, "-c", "part.c", cwd=work, env=variables)
    assert (done.returncode, done.stdout, done.stderr) == (UsageError.status, "", f"trodden: {message}\n")
    assert not (work / "part.o").exists()


def test_variables_of_other_tools_are_ignored(work: Path) -> None:
    must("cc", "-c", "part.c", cwd=work, env={"TRODDEN_SOMETHING": "x", "TRODDEN_FILE": "y.raw"})
    assert (work / "part.o").exists()


@pytest.mark.parametrize("verb", ["cc", "c++", "rustc"])
def test_compilers_list_their_own_options(work: Path, verb: str) -> None:
    text = must(verb, "--trodden-help", cwd=work)
    assert text.startswith(f"usage: trodden {verb} ")
    assert "\n  --trodden-profile=KIND " in text
