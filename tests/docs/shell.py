"""Executes the commands of an example in one shell, and compares what they print with what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.native.building import environment

_BIN = Path(sys.executable).parent
_MARK = "=== end of command"
_OWN_ERRORS = range(90, 131)
"""What trodden exits with if it could not do what it was asked for."""
_PID = re.compile(r"(?<=process )\d+|(?<=thread \d \()\d+")
_WIDTH = "120"


@dataclass(frozen=True)
class Command:
    """A command behind ``$``, and the lines below it; none if the page does not show what it prints."""

    words: str
    shown: str


def session(text: str) -> list[Command]:
    """The commands of a session."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [Command(*_halves(part)) for part in parts]


def _halves(part: str) -> tuple[str, str]:
    words, _, shown = part.partition("\n")
    return words, shown.strip("\n")


def printed(commands: list[str], directory: Path) -> list[str]:
    """What each of these commands prints, as a user at a shell gets it; none of them may fail."""
    script = "".join(f"{each}\nstatus=$?; echo '{_MARK}' $status; (exit $status)\n" for each in commands)
    settings = environment({"COLUMNS": _WIDTH})
    settings["PATH"] = f"{_BIN}:{settings['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=directory,
        env=settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = re.split(rf"^{_MARK} (\d+)\n", done.stdout, flags=re.MULTILINE)
    for words, status in zip(commands, outputs[1::2], strict=True):
        assert int(status) not in _OWN_ERRORS, f"{words}\n{done.stdout}{done.stderr}"
    return outputs[:-1:2]


def agrees(shown: str, output: str, directory: Path) -> bool:
    """Whether a page shows what was printed.

    An ellipsis stands for lines, or for a part of a line, that are left out; numbers of processes differ; and
    paths are shortened to their last part.
    """
    output = output.replace(f"{directory}/", "").replace(f"{directory.resolve()}/", "")
    return bool(re.fullmatch(_pattern(_plain(shown)), _plain(output)))


def _plain(text: str) -> str:
    text = _PID.sub("PID", text.replace("/full/path/", ""))
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _pattern(shown: str) -> str:
    return "\n".join(_line_patterns(shown.split("\n"))).replace("(?:.*\n)*?.*\n", "(?:.*\n)*?")


def _line_patterns(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield "(?:.*\n)*?.*" if line == "…" else "[^\n]*".join(re.escape(part) for part in line.split("…"))
