"""The directory of a run: the arguments and files that a case has there, and the hash of its output."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from bench.suite.model import Case
from bench.support.errors import BenchError

LINK = "in"
"""The link, in the directory of a run, to the directory with the input files."""

_INPUT_FILE = re.compile(r"@(?=[a-z])")
_CHUNK = 1 << 20


def arguments_of(case: Case) -> list[str]:
    """The arguments that the program gets in the directory of a run."""
    return [_INPUT_FILE.sub(f"{LINK}/", argument) for argument in case.arguments]


def prepare(case: Case, directory: Path, inputs: Path) -> Path:
    """Make the directory of a run, empty but for the link; returns the file to connect to stdin."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / LINK).symlink_to(inputs.resolve())
    return inputs / case.stdin if case.stdin else Path("/dev/null")


def digest(case: Case, directory: Path, printed: Path) -> str:
    """The hash of everything that a run in this directory has put out."""
    found = hashlib.sha256()
    for path in (printed, *(directory / name for name in case.outputs)):
        if not path.is_file():
            raise BenchError(f"{path}: was not written by the run; see its stderr in the same directory")
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                found.update(chunk)
    return found.hexdigest()
