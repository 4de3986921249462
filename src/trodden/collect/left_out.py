"""Raw files that add nothing to a profile, and why: many with the same reason are one message.

A configure script runs dozens of programs that it removes at once, and so may a test-suite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trodden.collect.rawfile.model import Raw
from trodden.errors import BadFile, InputMissing, OtherBuild, TroddenError


class HoldsNothing(BadFile):
    """A raw file with none of the counts of its process: ``loss`` is what a profile says of that."""

    def __init__(self, raw: Raw) -> None:
        self.pid = raw.pid
        why = (
            "its file was truncated while it ran"
            if raw.counts_lost
            else "there was no space for any in its file (a full disk, or a limit on its size)"
        )
        self.loss = f" has left no counts: {why}"
        super().__init__(f"{raw.path}: process {raw.pid}{self.loss}; run the program again")


class ProgramGone(InputMissing):
    """A raw file whose program does not exist any more."""

    program = ""


class ProgramRebuilt(OtherBuild):
    """A raw file whose program has been built again since."""

    program = ""


def program_gone(raw: str, program: str) -> ProgramGone:
    """The error of a raw file whose program does not exist any more."""
    error = ProgramGone(f"{program}: is gone, but {raw} needs it; pass it with --program")
    error.program = program
    return error


def program_rebuilt(raw: str, program: str, message: str) -> ProgramRebuilt:
    """The error of a raw file that another build of its program has written."""
    error = ProgramRebuilt(f"{raw}: counted by {message}")
    error.program = program
    return error


@dataclass(frozen=True)
class LeftOutRaws:
    """How many raw files were left out, and messages that say why."""

    number: int = 0
    messages: tuple[str, ...] = ()


def left_out_raws(failed: Sequence[TroddenError]) -> LeftOutRaws:
    """A message for each raw file that was left out, but one for all whose programs are gone."""
    return LeftOutRaws(len(failed), tuple(_messages(failed)))


def _messages(failed: Sequence[TroddenError]) -> Iterator[str]:
    gone = [each for each in failed if isinstance(each, ProgramGone)]
    rebuilt = [each for each in failed if isinstance(each, ProgramRebuilt)]
    if len(gone) > 1:
        yield (
            f"{_counted(len(gone), gone)} gone, for example {gone[0].program} (left out); if they still exist"
            " elsewhere, pass them with --program"
        )
    if len(rebuilt) > 1:
        yield (
            f"{_counted(len(rebuilt), rebuilt)} built again since, for example {rebuilt[0].program}"
            " (left out); run them again, or pass those that ran with --program"
        )
    for error in failed:
        several = isinstance(error, ProgramGone) and len(gone) > 1
        if not several and not (isinstance(error, ProgramRebuilt) and len(rebuilt) > 1):
            yield f"{error} (left out)"


def _counted(raws: int, errors: Sequence[ProgramGone] | Sequence[ProgramRebuilt]) -> str:
    programs = len({error.program for error in errors})
    verb = "is" if isinstance(errors[0], ProgramGone) else "has been"
    if programs == 1:
        return f"{raws:,} raw files: the program that wrote them {verb}"
    verb = "are" if verb == "is" else "have been"
    return f"{raws:,} raw files: the {programs:,} programs that wrote them {verb}"
