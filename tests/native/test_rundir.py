"""Directories of runs that were killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from trodden.native.execute import rundir


def test_what_an_earlier_run_left_is_mentioned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rundir, "SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(rundir, "_start_ticks_of", lambda pid: 0)
    left = rundir.make_directory()
    assert rundir.unmentioned(rundir.abandoned()) == []
    (left / "7.raw").write_bytes(b"")
    assert rundir.abandoned() == [left]
    assert rundir.unmentioned(rundir.abandoned()) == [left]
    assert rundir.unmentioned(rundir.abandoned()) == []
    assert rundir.abandoned() == [left]
    assert rundir.raw_files(left) == [left / "7.raw"]
