"""What is claimed of conditions is never more than what happened, however the program was optimised."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import trodden
from trodden.report.narrate.paths import Describer

PROGRAM = Path(__file__).parent / "programs" / "conditions.c"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def _run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "trodden", "run", "--quiet", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[int, int]]:
    """For each line how often its condition held, and did not, as the program itself counted."""
    folder = tmp_path_factory.mktemp("truth")
    rows = _run(folder, str(PROGRAM), "-O0", "-DTRUTH").splitlines()
    return {int(line): (int(yes), int(no)) for line, yes, no in map(str.split, rows)}


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_claims_are_kept(tmp_path: Path, truth: dict[int, tuple[int, int]], level: str) -> None:
    _run(tmp_path, "--profile", "paths", "-o", "x.trod", str(PROGRAM), "-g", level)
    profile = trodden.load(tmp_path / "x.trod")
    describer = Describer(profile)
    claimed: Counter[tuple[int, str]] = Counter()
    for function in profile.functions.values():
        for path in function.paths or ():
            for edge in path.edges:
                step = describer.decision(function, edge)
                if step is not None and step.outcome is not None and step.line is not None:
                    word = step.outcome.removeprefix("any number of rounds, then ").split(",")[0]
                    claimed[step.line, word] += path.count
    excess = {
        (line, word): (count, truth[line])
        for (line, word), count in claimed.items()
        if word in ("yes", "no") and count > truth[line][word == "no"]
    }
    assert excess == {}
    certain = {line for line, word in claimed if word in ("yes", "no")}
    assert len(certain) >= (20 if level == "-O0" else 8)
