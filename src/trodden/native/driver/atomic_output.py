"""Outputs appear whole or not at all.

Everything is made in a scratch directory first and moved to its destination when it is complete, so that a
compilation that fails leaves the output of the previous one as it was.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from trodden.errors import CannotWrite
from trodden.temporary import make_directory, make_file, remove

STANDARD_OUTPUT = "-"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A temporary directory, removed afterwards; an error says so if there can be none."""
    try:
        directory = make_directory("trodden-")
    except OSError as error:
        message = f"no room for temporary files ({error}); set TMPDIR to a writable directory"
        raise CannotWrite(message) from error
    try:
        yield directory
    finally:
        remove(directory)


def deliver(made: Path, output: str) -> None:
    """Move a complete file to the output that was asked for; ``-`` is standard output."""
    try:
        if output == STANDARD_OUTPUT:
            sys.stdout.flush()
            with made.open("rb") as source:
                shutil.copyfileobj(source, sys.stdout.buffer)
            sys.stdout.flush()
        elif not _replaceable(output):
            # A device, or a writable file in a directory that is not writable, can only be written in place.
            with made.open("rb") as source, open(output, "wb") as target:
                shutil.copyfileobj(source, target)
        else:
            _replace(made, os.path.realpath(output))
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror
        raise CannotWrite(f"{output}: cannot write ({why}); choose another output with -o") from error


def _replaceable(output: str) -> bool:
    try:
        mode = os.stat(output).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) and os.access(os.path.dirname(os.path.realpath(output)), os.W_OK)


def _replace(made: Path, output: str) -> None:
    handle, temporary = make_file(".trodden-", os.path.dirname(output) or ".")
    try:
        with os.fdopen(handle, "wb") as target, made.open("rb") as source:
            shutil.copyfileobj(source, target)
        shutil.copymode(made, temporary)
        os.replace(temporary, output)
    finally:
        remove(temporary)
