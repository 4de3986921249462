"""Computed gotos, whose edges cannot be split: phis in their targets say what is to be counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import must

_LABEL_TWICE = """\
int step(int at) {
    static void *const to[] = {&&one, &&one, &&other, &&end};
    goto *to[at & 3];
one:
    at += 5;
    goto *to[at & 3];
other:
    at += 3;
    goto *to[at & 3];
end:
    return at;
}
"""


@pytest.mark.parametrize("counters", ["checked", "every-edge"])
def test_a_jump_that_names_a_label_twice_in_a_library(tmp_path: Path, counters: str) -> None:
    """The addresses of a library's counters are computed, and both mentions need the same one."""
    (tmp_path / "step.c").write_text(_LABEL_TWICE)
    options = (f"--trodden-counters={counters}", "-O0", "-fPIC", "-shared")
    must("cc", *options, "step.c", "-o", "libstep.so", cwd=tmp_path)
