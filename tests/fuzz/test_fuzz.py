"""A minute of fuzzing, and every file that a reader has once stumbled over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.campaign import ROOT, campaign
from tests.fuzz.seeds import make_seeds
from tests.fuzz.targets import TARGETS

SECONDS = 60.0
SEED = 1
CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz") / "seeds"
    make_seeds(folder)
    return folder


def test_nothing_that_was_found_once_comes_back(seeds: Path) -> None:
    found = sorted(CORPUS.glob("*.bin"))
    assert found
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.fuzz", "--seeds", str(seeds), "--repeat", *map(str, found)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_readers_read_or_refuse(seeds: Path, tmp_path: Path) -> None:
    crashes = tmp_path / "crashes"
    outcome = campaign(seeds, tmp_path / "work", crashes, SECONDS, SEED)
    told = "\n".join(f"{each['kind']} ({each['path']})\n{each['details']}" for each in outcome.failures)
    assert not outcome.failures, f"make fuzz FUZZ_SEED={SEED}\n{told}"
    assert set(outcome.counted) == {target.name for target in TARGETS}
    assert all(runs for runs, _ in outcome.counted.values())


def test_a_bug_is_found_kept_and_repeated(seeds: Path, tmp_path: Path) -> None:
    """A worker whose reader fails at some inputs says so, and what it keeps makes the reader fail again."""
    work, crashes = tmp_path / "work", tmp_path / "crashes"
    outcome = campaign(seeds, work, crashes, 5, SEED, ["planted"])
    (failure,) = outcome.failures
    assert failure["kind"] == "planted: Broken promise"
    assert Path(failure["path"]).read_bytes() == b"!"
