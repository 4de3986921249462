"""The scripts through which cargo and rustc call us: before rustc, and as its linker."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from trodden.errors import BadFile, CannotWrite
from trodden.native.options.codec import decode_options, encode_options
from trodden.native.options.declarations import Options
from trodden.native.rust.job import RustJob

WRAPPER = "rustc-wrapper"
LINKER = "rustc-linker"
"""The verbs that the scripts call; they are no part of the command line that users see."""


def wrapper_script(directory: Path, options: Options) -> Path:
    """A program for cargo to call before rustc, whose path is its first argument."""
    described, script = directory / "options.json", directory / "rustc"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _replace(described, json.dumps(encode_options(options)))
        _replace(script, _script([WRAPPER, str(described)]), executable=True)
    except OSError as error:
        raise CannotWrite(
            f"{directory}: cannot write ({error.strerror}); make the target directory writable"
        ) from error
    return script


def wrapped_options(path: str) -> Options:
    """The options that a wrapper script was made for."""
    try:
        return decode_options(json.loads(Path(path).read_text()))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadFile(f"{path}: does not hold options ({error}); start trodden cargo again") from error


def linker_script(directory: Path, job: RustJob, name: str) -> Path:
    """A program for rustc to call as its linker.

    It has the name of the real linker, from which rustc infers how to call it.
    """
    described, script = directory / "job.json", directory / name
    job.save(described)
    script.write_text(_script([LINKER, str(described)]))
    script.chmod(0o755)
    return script


def _script(words: Sequence[str]) -> str:
    command = shlex.join([sys.executable, "-P", "-m", "trodden", *words])
    return f'#!/bin/sh\nexec {command} "$@"\n'


def _replace(path: Path, text: str, executable: bool = False) -> None:
    """Write a file that other builds may be using, unless it has that content already."""
    if path.exists() and path.read_text() == text:
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(text)
    temporary.chmod(0o755 if executable else 0o644)
    temporary.replace(path)
