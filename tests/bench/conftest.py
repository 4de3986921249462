from __future__ import annotations

from pathlib import Path

import pytest

from bench.cli import leftover_processes
from bench.run import inputs, profiles, runs


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work directory of its own for everything that the benchmark makes and runs."""
    for module in (leftover_processes, inputs, profiles, runs):
        monkeypatch.setattr(module, "WORK", tmp_path / "work")
    monkeypatch.setenv("TRODDEN_BENCH", "")
    return tmp_path
