"""What is suspended when the process ends: contexts, and threads that wait for a child of vfork."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.native.building import LIMIT, PROGRAMS, environment, must
from trodden import load
from trodden.profile.from_runs import collect


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("profile", ["edges", "paths"])
def test_a_context_with_control_flow_protection(tmp_path: Path, level: str, profile: str) -> None:
    """With that, glibc declares swapcontext to return twice, which it does not."""
    source = PROGRAMS / "suspended_context.c"
    options = (f"--trodden-profile={profile}", "-fcf-protection=full", level)
    must("cc", *options, source, "-o", "program", cwd=tmp_path)
    assert must("run", "-q", "-o", "out.trod", "./program", cwd=tmp_path) == "6\n"
    step = load(tmp_path / "out.trod").functions["step"]
    assert (step.entries, step.violations) == (4, ())


def test_exit_does_not_wait_for_a_child_of_vfork(tmp_path: Path) -> None:
    """It looks at the thread a few times, and then goes on: in the long run that took 100,000 times."""
    must("cc", "-w", "-pthread", PROGRAMS / "exit_beside_vfork.c", "-o", "program", cwd=tmp_path)
    process = subprocess.Popen(
        [str(tmp_path / "program")], env=environment({"TRODDEN_FILE": "out.raw"}), cwd=tmp_path
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    assert usage.ru_nvcsw < 20_000
    profile = collect([tmp_path / "out.raw"])
    assert profile.functions["hit"].entries == 5
    assert any("not all active calls were found" in message for message in profile.messages)


def test_a_child_of_vfork_outlives_a_process_that_dies(tmp_path: Path) -> None:
    """It records the functions that it leaves in memory whose lock the dead process holds for ever."""
    must("cc", "-w", "-pthread", PROGRAMS / "exit_beside_vfork.c", "-o", "program", cwd=tmp_path)
    variables = environment({"TRODDEN_FILE": "out.raw"})
    # The child has the output open until it ends.
    done = subprocess.run(
        ["./program", "dies"], cwd=tmp_path, env=variables, capture_output=True, check=False, timeout=LIMIT
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, b"", b"")
    assert collect([tmp_path / "out.raw"]).functions["hit"].entries == 5
