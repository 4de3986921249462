"""Errors in what a user has given us; each kind has an exit status of its own.

Statuses start at 90, so that they are seldom mistaken for those of the profiled program.
"""

from __future__ import annotations


class TroddenError(Exception):
    """A one-line message that names the file or function and says what to do."""

    status = 90


class BuildFailed(TroddenError):
    """A program that does not compile or link; ``diagnostics`` are the messages of the compiler."""

    def __init__(self, message: str, diagnostics: str) -> None:
        super().__init__(f"{message}\n{diagnostics}".rstrip())
        self.diagnostics = diagnostics


class UsageError(TroddenError):
    """A command line that cannot be carried out as written."""

    status = 2


class InputMissing(TroddenError):
    """An input file that does not exist or cannot be read."""

    status = 91


class BadIR(TroddenError):
    """LLVM IR that cannot be read, for instance from a newer LLVM."""

    status = 92


class BadFile(TroddenError):
    """A profile or raw file that is truncated, corrupt or of another format."""

    status = 93


class LaterVersion(TroddenError):
    """A file written by a later version of trodden."""

    status = 94


class OtherBuild(TroddenError):
    """Counts and a program that are not of the same build."""

    status = 95


class NotInstrumented(TroddenError):
    """A program or object without probes."""

    status = 96


class CannotWrite(TroddenError):
    """An output that cannot be written: a full disk, a read-only directory."""

    status = 97


class SourceChanged(TroddenError):
    """A source that has changed since the program was built."""

    status = 98


class ToolchainMissing(TroddenError):
    """No compiler, or an unsuitable one."""

    status = 99


class TooLittleCovered(TroddenError):
    """Fewer paths were executed than required."""

    status = 100


class LeftOut(TroddenError):
    """Inputs that could not be merged or collected."""

    status = 101
