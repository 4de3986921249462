"""``trodden-cc``, ``trodden-c++`` and ``trodden-rustc``: the compilers as single words.

CMake and others take the name of a compiler for the name of one file.
"""

from __future__ import annotations

import sys

from trodden.commands.main import main


def cc() -> int:
    """``trodden cc``."""
    return main(["cc", *sys.argv[1:]])


def cxx() -> int:
    """``trodden c++``."""
    return main(["c++", *sys.argv[1:]])


def rustc() -> int:
    """``trodden rustc``."""
    return main(["rustc", *sys.argv[1:]])
