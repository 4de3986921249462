"""Writing a result without ever destroying the previous one."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable

from trodden.errors import CannotWrite, UsageError


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` to the file ``path``, all of it or nothing.

    What is not a regular file (a pipe, a terminal) has no previous content to keep and is written directly.
    """
    write_parts(path, [data])


def write_parts(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """The same of data that is not in memory as a whole."""
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(path, "wb") as stream:
                stream.writelines(parts)
        else:
            _replace(target, parts)
    except OSError as error:
        raise CannotWrite(
            f"{os.fspath(path)}: cannot be written: {error.strerror}; name another file"
        ) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a result can be written, before the work that leads to it is done."""
    target = os.path.realpath(path)
    try:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.path.exists(target) or os.path.isfile(target):
            probe = os.path.join(os.path.dirname(target), f".trodden-{secrets.token_hex(6)}")
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            os.unlink(probe)
    except OSError as error:
        raise CannotWrite(
            f"{os.fspath(path)}: cannot be written: {error.strerror}; name another file with -o"
        ) from error


def refuse_inputs(output: str | os.PathLike[str] | None, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Check that a result does not replace what it is made of, under whatever name."""
    for each in inputs:
        if output is not None and is_same_file(output, each):
            raise UsageError(
                f"-o {os.fspath(output)}: would replace {os.fspath(each)}, which it is made of;"
                " name another file with -o"
            )


def is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two names are those of one regular file."""
    try:
        return os.path.isfile(one) and os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _replace(target: str, parts: Iterable[bytes]) -> None:
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".{os.path.basename(target)[:100]}.{secrets.token_hex(6)}")
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as stream:
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
