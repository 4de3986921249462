"""clang with a record of every edge that is executed, the rival of traces.

    python recording_clang.py CLANG [arguments of the compiler]

Programs are compiled with ``-fsanitize-coverage=trace-pc-guard`` and linked with ``branch_recorder.c``.  This
file is run by its path, without the rest of the benchmark.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

RECORDER = Path(__file__).with_name("branch_recorder.c")

_COVERAGE = "-fsanitize-coverage=trace-pc-guard"
_NOT_LINKED = frozenset({"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "-r"})


def main(clang: str, *arguments: str) -> int:
    """Compile or link; return the exit status."""
    if not _NOT_LINKED.isdisjoint(arguments):
        return _run([clang, _COVERAGE, *arguments])
    with tempfile.TemporaryDirectory(prefix="bench-recorder-") as directory:
        recorder = f"{directory}/recorder.o"
        status = _run([clang, "-O2", "-c", "-x", "c", str(RECORDER), "-o", recorder])
        if status:
            return status
        cxx = [word for word in arguments if word.startswith("--driver-mode=")]
        rest = [word for word in arguments if word not in cxx]
        return _run([clang, *cxx, _COVERAGE, *rest, recorder, "-pthread"])


def _run(command: Sequence[str]) -> int:
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
