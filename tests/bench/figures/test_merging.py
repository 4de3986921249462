"""Merging many profiles: damaged ones are found, and the result is a sum."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bench.figures.merging import damage, edge_counts, merge
from bench.support.errors import BenchError
from tests.profile.making import function, profile_of, unit_of
from trodden.profile.store.trod import load, save


def test_a_merge_of_a_few(tmp_path: Path) -> None:
    unit = unit_of(function("f", "a>b a>c b>exit c>exit"))
    names = [tmp_path / f"{number}.trod" for number in range(5)]
    for number, name in enumerate(names):
        save(profile_of(unit, {"f": {"a>b": number, "b>exit": number}}), name)
    damage(names[2], Random(1))
    merged = merge(names, 1, tmp_path / "out.trod")
    assert (merged.profiles, merged.damaged) == (5, 1)
    assert merged.peak > 1 << 20
    assert merged.seconds > 0
    assert edge_counts(load(tmp_path / "out.trod"))["f", 0] == 0 + 1 + 3 + 4
    with pytest.raises(BenchError, match="status 101"):
        merge(names, 0, tmp_path / "out.trod")
