"""A program in two parts, and what tests of compilers ask of what was built."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.native.building import run
from trodden.collect.binary.program import read_program

CLANG = (sys.executable, "-m", "ziglang", "clang")
MAIN = """#include <stdio.h>
#include "part.h"
int main(void) { printf("%d %s\\n", part(3), NAME); return 0; }
"""
PART = """#include "part.h"
int part(int n) {
    int s = 0;
    while (n-- > 0)
        s += n;
    return s;
}
"""
HEADER = '#ifndef NAME\n#define NAME "none"\n#endif\nint part(int);\n'


def write_two_parts(directory: Path) -> None:
    """Write the sources: main.c, part.c and part.h."""
    (directory / "main.c").write_text(MAIN)
    (directory / "part.c").write_text(PART)
    (directory / "part.h").write_text(HEADER)


def functions(path: Path) -> set[str]:
    """The functions that carry probes."""
    return {function.name for unit in read_program(path).units.values() for function in unit.functions}


def runs(program: Path, output: str) -> None:
    done = run(program, cwd=program.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, output, "")
