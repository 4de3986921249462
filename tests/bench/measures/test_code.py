from __future__ import annotations

from pathlib import Path

import pytest

import bench.figures.own_counts
from bench.measures.code import code_of


@pytest.mark.parametrize(
    ("changed", "part"),
    [("own_counts.py", True), ("lost_counts.py", True), ("counters.py", True), ("runs.py", False)],
)
def test_figures_and_oracles_that_a_module_imports_are_part_of_its_code(
    changed: str, part: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Path.read_text

    def edited(path: Path) -> str:
        return read(path) + ("# changed" if path.name == changed else "")

    code_of.cache_clear()
    before = code_of(bench.figures.own_counts.__name__)
    monkeypatch.setattr(Path, "read_text", edited)
    code_of.cache_clear()
    assert (code_of(bench.figures.own_counts.__name__) != before) is part
    code_of.cache_clear()
