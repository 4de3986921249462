"""What threads take from the program: room on their stacks, and mappings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must
from trodden import load

PATHS = ("--trodden-profile=paths", "--trodden-max-paths=1000000")


@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O0 -static", "-O0 -fPIC -pie"])
def test_stacks_that_the_program_supplies(tmp_path: Path, flags: str) -> None:
    source = PROGRAMS / "supplied_stack.c"
    must("cc", *PATHS, *flags.split(), "-pthread", source, "-o", "program", cwd=tmp_path)
    output = must("run", "-q", "-o", "out.trod", "./program", cwd=tmp_path)
    assert output == "1 1 1\n5 0\n1 1 1\n7 1\n"
    profile = load(tmp_path / "out.trod")
    names = ("many", "deep", "work", "main")
    assert [profile.functions[name].entries for name in names] == [200, 402, 2, 1]
    assert profile.messages == ()
    assert all(profile.functions[name].violations == () for name in names)


@pytest.mark.parametrize("flags", ["-no-pie", "-fPIC -pie"])
def test_mappings_of_threads(tmp_path: Path, flags: str) -> None:
    """A process may have 65,530 mappings; without probes each thread has two."""
    must("cc", *flags.split(), "-pthread", PROGRAMS / "mappings.c", "-o", "program", cwd=tmp_path)
    per_thread = float(must("run", "-q", "-o", "out.trod", "./program", cwd=tmp_path))
    assert per_thread <= 4.5
    assert load(tmp_path / "out.trod").functions["work"].entries == 256
