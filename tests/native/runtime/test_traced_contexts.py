"""Contexts that wait at the same call go on in a trace as what they are."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must
from trodden.api import traces
from trodden.plan.routes import PathEnd
from trodden.profile.derived import derive
from trodden.profile.model import FunctionProfile


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of the program, and its paths as they are counted."""
    folder = tmp_path_factory.mktemp("contexts")
    for kind, option in {"trace": "-O0", "paths": "--trodden-max-paths=none"}.items():
        words = (f"--trodden-profile={kind}", option, "-O0", PROGRAMS / "many_contexts.c", "-o", kind)
        must("cc", *words, cwd=folder)
        assert must("run", "-q", "-o", f"{kind}.trod", f"./{kind}", cwd=folder) == "1695\n"
    return folder


def _lines(function: FunctionProfile) -> Counter[tuple[int, ...]]:
    """The lines of each path that reached its end, however they are divided into blocks."""
    found: Counter[tuple[int, ...]] = Counter()
    for path in function.paths or ():
        if path.ends is not PathEnd.UNWOUND:
            lines = [ref.line for block in path.blocks for ref in function.facts.blocks[block].lines]
            found[tuple(line for line, _ in groupby(lines))] += path.count
    return found


def _cut_short(function: FunctionProfile) -> list[int]:
    return sorted(path.count for path in function.paths or () if path.ends is PathEnd.UNWOUND)


@pytest.mark.parametrize("compiled", [True, False])
def test_contexts_at_the_same_call(profiles: Path, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr(traces, "library", lambda: None)
    derived = derive(traces.load(profiles / "trace.trod"), "paths").profile
    counted = traces.load(profiles / "paths.trod")
    for name in ("walk", "pause_here", "run", "main"):
        followed = derived.functions[name]
        assert followed.violations == ()
        assert _lines(followed) == _lines(counted.functions[name])
        assert _cut_short(followed) == _cut_short(counted.functions[name])
    assert len(_lines(derived.functions["walk"])) == 32
