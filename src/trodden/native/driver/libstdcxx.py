"""C++ against the system's own library, libstdc++, in place of the embedded toolchain's libc++.

Objects and libraries that g++ has compiled have its types in their interfaces, so that a program which uses
them has to be compiled with ``-stdlib=libstdc++``.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from itertools import pairwise

from trodden.errors import ToolchainMissing, UsageError

FLAG = "-stdlib=libstdc++"


def header_directories(clang: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The directories of libstdc++'s headers, which clang's driver finds beside an installed g++."""
    command = [*clang, "--driver-mode=g++", FLAG, "-###", "-c", "-x", "c++", "/dev/null", "-o", "/dev/null"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    lines = [shlex.split(line) for line in asked.stderr.splitlines() if '"-cc1"' in line]
    words = lines[-1] if lines else []
    found = [value for flag, value in pairwise(words) if flag == "-internal-isystem" and _is_cxx(value)]
    if not found:
        raise ToolchainMissing(
            f"{FLAG}: this machine has no headers of libstdc++; install g++, or leave the flag out:"
            " the embedded toolchain brings libc++"
        )
    return found


def _is_cxx(directory: str) -> bool:
    return "c++" in os.path.normpath(directory).split(os.sep) and os.path.isdir(directory)


def refuse_target(target: str | None) -> None:
    """Refuse a target that the system's library is not for."""
    if target is not None:
        raise UsageError(
            f"{FLAG}: for the target {target} there is only libc++; leave one of the two flags out"
        )


def libraries(flags: frozenset[str]) -> list[str]:
    """The words that link libstdc++ and the unwinder that it was built with."""
    if "-static" in flags or "-static-pie" in flags:
        return ["-lstdc++"]
    static = "-static-libstdc++" in flags
    library = ["-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic"] if static else ["-lstdc++"]
    return [*library, "-lgcc_s"]
