"""``trodden cc`` and ``trodden c++``: drop-in compilers that instrument what they compile."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from trodden.api.builds import builder
from trodden.waiting import quiet_unless_at_a_terminal

HELP = "--trodden-help"


def main(argv: Sequence[str], cxx: bool) -> int:
    """Compile, instrument and link as ``argv`` says; return the exit status."""
    if HELP in argv:
        from trodden.commands.usage import compiler_usage

        sys.stdout.write(compiler_usage("c++" if cxx else "cc"))
        return 0
    # A compiler runs briefly and makes few reference cycles; looking for them takes a fifth of the time of a
    # large file.
    gc.disable()
    quiet_unless_at_a_terminal()
    return builder(argv, cxx).run()
