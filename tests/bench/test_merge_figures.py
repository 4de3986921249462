"""The measurement of merging: what it damages is found, and what it measures is a merge."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bench.figures.merging import Took, _damage, edge_counts, measure, merge_table
from bench.support.errors import BenchError
from tests.profile.making import function, profile_of, unit_of
from trodden.profile.store.trod import load, save


def test_a_merge_of_a_few(tmp_path: Path) -> None:
    unit = unit_of(function("f", "a>b a>c b>exit c>exit"))
    names = [tmp_path / f"{number}.trod" for number in range(5)]
    for number, name in enumerate(names):
        save(profile_of(unit, {"f": {"a>b": number, "b>exit": number}}), name)
    _damage(names[2], Random(1))
    took = measure(names, 1, tmp_path / "out.trod")
    assert (took.profiles, took.damaged) == (5, 1)
    assert took.most > 1 << 20
    assert edge_counts(load(tmp_path / "out.trod"))["f", 0] == 0 + 1 + 3 + 4
    with pytest.raises(BenchError, match="status 101"):
        measure(names, 0, tmp_path / "out.trod")


def test_the_table() -> None:
    shown = merge_table([Took(10_000, 10, 2.5, 3 << 20)])
    assert shown.splitlines()[-1].split() == ["10,000", "10", "2.50", "s", "0.25", "s", "3.0", "MiB"]
