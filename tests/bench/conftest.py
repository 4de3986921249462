from __future__ import annotations

from pathlib import Path

import pytest

from bench.cli import leftover_processes as ending
from bench.run import profiles, runs
from bench.suite import model


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work directory of its own for everything that the bench makes and runs."""
    for module in (ending, model, profiles, runs):
        monkeypatch.setattr(module, "WORK", tmp_path / "work")
    monkeypatch.setenv("TRODDEN_BENCH", "")
    return tmp_path
