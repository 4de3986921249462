from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.measures.store import Store
from bench.support.directories import PROJECT
from bench.support.errors import BenchError

_MACHINE: dict[str, str | int] = {"processor": "P", "cores": 2}
_KILLED = """
import os, signal, sys
from pathlib import Path
from bench.measures.store import Store

store = Store(Path(sys.argv[1]), {"processor": "P", "cores": 2})
store.put("lua", "first", "f", 1)
store.put("lua", "second", "f", [2.5])
# The process is killed while the third figure is written.
os.fsync = lambda number: os.kill(os.getpid(), signal.SIGKILL)
store.put("lua", "third", "f", 3)
"""


def test_a_kill_while_writing_leaves_all_previous_figures(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, env={"PYTHONPATH": "src:."}, check=False)
    assert done.returncode == -signal.SIGKILL
    store = Store(tmp_path, _MACHINE)
    assert store.current("lua", "first", "f") == 1
    assert store.current("lua", "second", "f") == [2.5]
    assert store.get("lua", "third") is None
    store.put("lua", "third", "f", 3)
    assert [Store(tmp_path, _MACHINE).current("lua", key, "f") for key in ("first", "second", "third")] == [
        1,
        [2.5],
        3,
    ]


def test_a_figure_with_another_fingerprint_is_not_current(tmp_path: Path) -> None:
    store = Store(tmp_path, _MACHINE)
    store.put("lua", "key", "before", 1)
    assert store.current("lua", "key", "after") is None
    store.put("lua", "key", "after", 2)
    assert Store(tmp_path, _MACHINE).current("lua", "key", "after") == 2


def test_figures_of_another_machine_are_dropped(tmp_path: Path) -> None:
    Store(tmp_path, _MACHINE).put("lua", "key", "f", 1)
    other = Store(tmp_path, {"processor": "Q", "cores": 2})
    assert other.get("lua", "key") is None
    other.put("lua", "more", "f", 2)
    assert sorted(json.loads((tmp_path / "lua.json").read_text())["figures"]) == ["more"]


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "lua.json").write_text("[]")
    with pytest.raises(BenchError, match=r"lua\.json: not a file of figures"):
        Store(tmp_path, _MACHINE).get("lua", "key")
