"""A small program with everything in it that reports and exports show."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from tests.profile.making import Flow, function, unit_counts_of, unit_of
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.program.facts import SourceFile

SOURCE = """\
#include "a.h"

int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        if (i % 10)
            sum += twice(i);
        else
            sum -= 1;
    if (argc > 5)
        return die("too many");
    return sum;
}

int never(int x) {
    return x ? 1 : 2;
}
"""
HEADER = """\
static inline int twice(int x) {
    return 2 * x;
}
"""

LOOP = "entry>cond cond>body cond>after body>then body>else then>latch else>latch latch>cond"
FLOWS: dict[str, Flow] = {
    "main": {
        "entry>cond": 1,
        "cond>body": 1000,
        "cond>after": 1,
        "body>then": 900,
        "body>else": 100,
        "then>latch": 900,
        "else>latch": 100,
        "latch>cond": 1000,
        "after>last": 1,
    }
}


def sample(root: str = "/src", digests: bool = True) -> Profile:
    """Its last block calls exit."""

    def file(name: str, text: str) -> SourceFile:
        return SourceFile(f"{root}/{name}", sha256(text.encode()).hexdigest() if digests else "")

    main = function(
        "main",
        f"{LOOP} after>early after>last early>exit last>exit",
        {
            "entry": [4, 5],
            "cond": [5],
            "body": [6],
            "then": [(1, 2), 7],
            "else": [9],
            "latch": [5],
            "after": [10],
            "early": [11],
            "last": [12],
        },
        line=3,
    )
    never = function("never", "x>y x>z y>w z>w w>exit", {"x": [16], "y": [16], "z": [16], "w": [16]}, line=15)
    unit = unit_of(
        main,
        never,
        files=[file("a.c", SOURCE), file("a.h", HEADER)],
        skipped=[("start", "it is written in assembler")],
    )
    last = main.graph.labels.index("last")
    counted = unit_counts_of(unit, FLOWS, {(0, last): 1})
    return assemble("/bin/prog", [unit], [counted], ["one thread was killed"])


def write_sources(folder: Path) -> None:
    (folder / "a.c").write_text(SOURCE)
    (folder / "a.h").write_text(HEADER)
