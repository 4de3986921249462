"""The command line: finds the verb, runs it, and turns errors into one line and an exit status.

``cc``, ``c++``, ``rustc``, ``cargo`` and ``run`` precede another program's whole command line, and are called
for every file of a build.  So they get their arguments untouched, and import nothing that they do not need.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

from trodden.commands.output import flush, silence
from trodden.errors import CannotWrite, TroddenError
from trodden.temporary import ended_by_signals
from trodden.visible_text import visible

INTERRUPTED = 130
_LONGEST = 2000


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names come from programs and file systems, and some cannot be encoded.
            stream.reconfigure(errors="backslashreplace")
    try:
        with ended_by_signals():
            return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    try:
        status = _dispatch(arguments)
        flush()
        return status
    except TroddenError as error:
        print(f"trodden: {_one_line(str(error))}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        # The reader of our output has closed the pipe.
        silence()
        return 0
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        silence()
        print(f"trodden: cannot write: {error.strerror}; free some space or write elsewhere", file=sys.stderr)
        return CannotWrite.status


def _one_line(message: str) -> str:
    """A message that may contain names out of files, of any length and with any characters."""
    return visible(message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…")


def _help(words: list[str]) -> list[str]:
    """The command line that ``trodden help [VERB]`` is short for; compilers pass ``--help`` on."""
    flag = "--trodden-help" if words[:1] and words[0] in ("cc", "c++", "rustc") else "--help"
    return [*words[:1], flag]


def _dispatch(arguments: list[str]) -> int:
    if arguments[:1] == ["help"]:
        arguments = _help(arguments[1:])
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if verb in ("cc", "c++"):
        from trodden.commands import cc

        return cc.main(rest, cxx=verb == "c++")
    if verb in ("rustc", "rustc-wrapper", "rustc-linker"):
        from trodden.commands import rustc

        return {"rustc": rustc.main, "rustc-wrapper": rustc.wrapper, "rustc-linker": rustc.linker}[verb](rest)
    if verb == "cargo":
        from trodden.commands import cargo

        return cargo.main(rest)
    if verb == "run":
        from trodden.commands import run

        return run.main(rest)
    from trodden.commands.verbs import run_verbs

    return run_verbs(arguments)
