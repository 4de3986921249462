from __future__ import annotations

from pathlib import Path

import pytest

from bench.measures import profiles, runs
from bench.suite import model


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work directory of its own for everything that the bench makes and runs."""
    for module in (model, profiles, runs):
        monkeypatch.setattr(module, "WORK", tmp_path / "work")
    return tmp_path
