"""More processes than shared memory has space for: none dies, and every count is right."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

from tests.native.building import PROGRAMS, TRODDEN, execute, must
from trodden.profile.store.trod import load

CHILDREN, CALLS, CLASSES = 200, 256, 64
_DOCKER = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
"""The size that shared memory has in a container, unless another one is asked for."""


def test_children_that_do_not_fit_into_shared_memory(tmp_path: Path) -> None:
    """Each has a table of 1 MiB, and all 200 count before the first one ends."""
    options = ("--trodden-profile=paths", "--trodden-max-paths=200000", "-O0")
    must("cc", *options, PROGRAMS / "scarce_memory.c", "-o", "scarce", cwd=tmp_path)
    run = shlex.join([*TRODDEN, "run", "--quiet", "-o", "scarce.trod", "./scarce", str(CHILDREN)])
    done = execute(["unshare", "-rm", "sh", "-c", f"{_DOCKER} && {run} && ls /dev/shm"], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{CHILDREN}\n", "")
    profile = load(tmp_path / "scarce.trod")
    assert len(profile.processes) == CHILDREN + 1
    path, child = profile.functions["path"], profile.functions["child"]
    assert (child.entries, path.entries) == (CHILDREN, CHILDREN * CALLS)
    assert path.paths is not None
    more = CHILDREN % CLASSES
    expected = {CHILDREN // CLASSES + 1: more * CALLS, CHILDREN // CLASSES: (CLASSES - more) * CALLS}
    assert Counter(each.count for each in path.paths) == expected
    assert not any(function.violations for function in profile.functions.values())
    (message,) = profile.messages
    assert "had no space for all counts while it ran" in message
    assert "none is lost" in message
