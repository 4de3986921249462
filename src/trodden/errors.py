"""What can go wrong with what a user gave us; each kind has an exit status of its own.

Statuses start at 90 so that they are seldom mistaken for those of the program under measurement.
"""

from __future__ import annotations


class TroddenError(Exception):
    """A one-line message that names the file or function and says what to do."""

    status = 90


class UsageError(TroddenError):
    """The command line makes no sense."""

    status = 2


class InputMissing(TroddenError):
    """A file that should be read is not there or cannot be read."""

    status = 91


class BadIR(TroddenError):
    """LLVM IR that cannot be read, for instance from a newer LLVM."""

    status = 92


class BadFile(TroddenError):
    """A profile or raw file that is truncated, corrupt or not one of ours."""

    status = 93


class LaterVersion(TroddenError):
    """A file written by a later version of trodden."""

    status = 94


class OtherBuild(TroddenError):
    """Counts and program do not belong together."""

    status = 95


class NotInstrumented(TroddenError):
    """A program or object that carries no probes."""

    status = 96


class CannotWrite(TroddenError):
    """The result cannot be written: a full disk, a read-only directory."""

    status = 97


class SourceChanged(TroddenError):
    """The source is not the one that the program was built from."""

    status = 98


class ToolchainMissing(TroddenError):
    """No compiler, or one that does not fit."""

    status = 99


class TooLittleCovered(TroddenError):
    """Fewer paths were walked than was asked for."""

    status = 100


class LeftOut(TroddenError):
    """Not all that should have been merged could be."""

    status = 101
