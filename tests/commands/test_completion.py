"""Completion of command lines, as the scripts of the shells ask for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.calling import ENVIRONMENT, process


def asked(shell: str, *words: str) -> list[str]:
    """What a shell gets for the last of the words."""
    variables = {
        "_TRODDEN_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    command = [sys.executable, "-m", "trodden"]
    done = subprocess.run(
        command, env={**ENVIRONMENT, **variables}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("trodden", "rep"), ["plain,replay", "plain,report"]),
        (("trodden", "ca"), ["plain,calibrate", "plain,cargo"]),
        (("trodden", "report", "--form"), ["plain,--format"]),
        (("trodden", "report", "--format", "ma"), ["plain,markdown"]),
        (("trodden", "report", ""), ["file,"]),
        (("trodden", "run", "--max"), ["plain,--max-paths"]),
        (("trodden", "run", "--counters", "che"), ["plain,checked"]),
        (("trodden", "cargo", "--de"), ["plain,--deps"]),
        (("trodden", "cc", "--trodden-sta"), ["plain,--trodden-stage"]),
        (("trodden", "completion", ""), ["plain,bash", "plain,zsh", "plain,fish"]),
    ],
)
def test_bash(words: tuple[str, ...], expected: list[str]) -> None:
    assert asked("bash", *words) == expected


def test_descriptions_are_whole() -> None:
    lines = asked("zsh", "trodden", "stat")
    assert lines == ["plain", "stats", lines[2]]
    assert lines[2].startswith("Show how many paths there are")
    assert lines[2].endswith(".")
    assert asked("fish", "trodden", "run", "--dur")[0].startswith("plain,--durable\t")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(shell: str) -> None:
    done = process("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_TRODDEN_COMPLETE={shell}_complete" in done.stdout


def test_a_shell_takes_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(process("completion", "bash").stdout)
    (tmp_path / "trodden").write_text(f'#!/bin/sh\nexec {sys.executable} -m trodden "$@"\n')
    (tmp_path / "trodden").chmod(0o755)
    program = (
        f"source {script}; COMP_WORDS=(trodden exp); COMP_CWORD=1; _trodden_completion trodden;"
        ' echo "${COMPREPLY[@]}"'
    )
    environment = {**ENVIRONMENT, "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "export\n"
