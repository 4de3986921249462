"""Directories of runs that were killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trodden.native.execute import rundir


def test_what_an_earlier_run_left_is_mentioned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rundir, "SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(rundir, "start_ticks_of", lambda pid: 0)
    left = rundir.make_directory()
    assert rundir.unmentioned(rundir.abandoned()) == []
    (left / "7.raw").write_bytes(b"")
    assert rundir.abandoned() == [left]
    assert rundir.unmentioned(rundir.abandoned()) == [left]
    assert rundir.unmentioned(rundir.abandoned()) == []
    assert rundir.abandoned() == [left]
    assert rundir.raw_files(left) == [left / "7.raw"]


def test_directories_that_others_may_have_made_are_not_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their raw files would be read, and files would be made and removed in them."""
    memory, elsewhere = tmp_path / "memory", tmp_path / "elsewhere"
    memory.mkdir()
    elsewhere.mkdir()
    (elsewhere / "7.raw").write_bytes(b"")
    monkeypatch.setattr(rundir, "SHARED_MEMORY", memory)
    monkeypatch.setattr(rundir, "start_ticks_of", lambda pid: 0)
    own = os.getuid()
    (memory / f"trodden-run-{own}-1-link").symlink_to(elsewhere)
    for mode in (0o770, 0o707):
        shared = memory / f"trodden-run-{own}-1-{mode:o}"
        shared.mkdir()
        shared.chmod(mode)
        (shared / "7.raw").write_bytes(b"")
    other = memory / f"trodden-run-{own + 1}-1-other"
    other.mkdir(mode=0o700)
    (other / "7.raw").write_bytes(b"")
    assert rundir.abandoned() == []
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert rundir.abandoned() == []
