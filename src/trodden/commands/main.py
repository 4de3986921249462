"""The command line: finds the verb, runs it, and turns what goes wrong into one line and a status.

``cc``, ``c++`` and ``run`` stand before another program's whole command line and are called for every file
of a build, so they get their arguments untouched and pay for no import that they do not need.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

from trodden.commands.output import flush, silence
from trodden.errors import CannotWrite, TroddenError

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and answer with its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names come from programs and file systems; one that cannot be printed is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _dispatch(arguments)
        flush()
        return status
    except TroddenError as error:
        print(f"trodden: {error}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        # The reader has seen enough.
        silence()
        return 0
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        silence()
        print(f"trodden: cannot write: {error.strerror}; make room or send it elsewhere", file=sys.stderr)
        return CannotWrite.status
    except KeyboardInterrupt:
        return INTERRUPTED


def _dispatch(arguments: list[str]) -> int:
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if verb in ("cc", "c++"):
        from trodden.commands import cc

        return cc.main(rest, cxx=verb == "c++")
    if verb == "run":
        from trodden.commands import run

        return run.main(rest)
    from trodden.commands.verbs import run_verbs

    return run_verbs(arguments)
