"""A small program with its source, and a good and a bad run of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.profile.walking import Walks, facts_of, path_profile
from trodden.profile.model import Profile

SOURCE = """\
int classify(int x) {
    if (x < 0)
        return -1;
    if (x % 2)
        return 1;
    return 2;
}

int handle(int x) {
    if (classify(x) < 0)
        return 0;
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += i;
    return sum;
}

void complain(void) {
    puts("bad");
}
"""
FUNCTIONS = [
    facts_of(
        "classify",
        "in>neg in>pos neg>out pos>odd pos>even odd>out even>out out>exit",
        {"in": [2], "neg": [3], "pos": [4], "odd": [5], "even": [6], "out": [7]},
        line=1,
    ),
    facts_of(
        "handle",
        "in>refuse in>first refuse>out first>cond cond>body cond>after body>cond after>out out>exit",
        {"in": [10], "refuse": [11], "first": [12], "cond": [13], "body": [14], "after": [15], "out": [16]},
        calls={"in": 1},
        line=9,
    ),
    facts_of("complain", "in>exit", {"in": [19]}, line=18),
]
GOOD: Mapping[str, Walks] = {
    "classify": {"in pos odd out": 600, "in pos even out": 400},
    "handle": {"in first cond body cond body cond after out": 1000},
}
BAD: Mapping[str, Walks] = {
    "classify": {"in pos odd out": 620, "in pos even out": 379, "in neg out": 1},
    "handle": {"in first cond body cond body cond after out": 999, "in refuse out": 1},
    "complain": {"in": 1},
}


def run(walks: Mapping[str, Walks], folder: Path | None = None) -> Profile:
    """A run; with a folder, its source is there."""
    if folder is None:
        return path_profile(FUNCTIONS, walks)
    (folder / "a.c").write_text(SOURCE)
    return path_profile(FUNCTIONS, walks, files=[str(folder / "a.c")])
