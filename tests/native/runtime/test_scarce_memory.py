"""More processes than shared memory has space for: none dies, and every count is right."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.native.building import PROGRAMS, TRODDEN, execute, must
from trodden.profile.store.trod import load

CHILDREN, CALLS, CLASSES = 200, 256, 64
_DOCKER = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
"""The size that shared memory has in a container, unless another one is asked for."""

_PLENTY = "mount -t tmpfs -o size=600m tmpfs /dev/shm"
"""So much that the file of a process gets no space before it is used."""


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


_NAMED = re.compile(r"(?:each of (\d+) processes .*|process \d+) has left no counts: there was no space for ")


@pytest.mark.parametrize(
    ("children", "mode"), [(CHILDREN, "killed"), (CHILDREN, "orphans"), (CHILDREN // 2, "grandchildren")]
)
def test_every_process_that_is_killed_is_in_the_profile_or_named(
    tmp_path: Path, children: int, mode: str
) -> None:
    """Whether its parent ends before it or after it, and where its parent has no file either."""
    options = ("--trodden-profile=paths", "--trodden-max-paths=200000", "-O0")
    must("cc", *options, PROGRAMS / "scarce_memory.c", "-o", "scarce", cwd=tmp_path)
    program = (
        f"TRODDEN_FILE=/dev/shm/%p.raw setsid -w sh -c 'echo $$ >group; exec ./scarce {children} {mode}'"
    )
    collect = shlex.join([*TRODDEN, "collect", "/dev/shm", "-o", "scarce.trod"])
    script = f"{_DOCKER} && {program} && (kill -KILL -$(cat group) || true) && {collect}"
    done = execute(["unshare", "-rm", "sh", "-c", script], tmp_path)
    expected = f"{children}\n" if mode == "killed" else ""
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
    profile = load(tmp_path / "scarce.trod")
    named = sum(int(found[1] or 1) for found in map(_NAMED.match, profile.messages) if found)
    assert len(profile.processes) + named == CHILDREN + 1
    assert named > CHILDREN // 4
    assert profile.functions["main"].entries == 1


def _run_on_shrinking_disk(cwd: Path, *more: str) -> CompletedProcess[str]:
    must("cc", "--trodden-call-paths=on", PROGRAMS / "shrinking_disk.c", "-o", "shrinking", cwd=cwd)
    run = [*TRODDEN, "run", "--quiet", "-o", "shrinking.trod", "./shrinking", "/dev/shm", *more]
    return execute(["unshare", "-rm", "sh", "-c", f"{_PLENTY} && {shlex.join(run)}"], cwd)


def test_a_fork_where_space_is_used_up(tmp_path: Path) -> None:
    """The child has the nodes of its call paths that were in memory instead of the file."""
    done = _run_on_shrinking_disk(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "8191 right\n", "")
    profile = load(tmp_path / "shrinking.trod")
    assert len(profile.processes) == 2
    assert profile.functions["left_a"].entries == 1
    names = [name for name in profile.functions if name.startswith(("left_", "right_"))]
    assert sum(profile.functions[name].entries for name in names) == 2 * 8191 - 6500
    assert not any(function.violations for function in profile.functions.values())
    assert profile.messages
    assert all("had no space for all counts while it ran" in message for message in profile.messages)


def test_what_is_in_the_file_of_a_full_disk_is_read(tmp_path: Path) -> None:
    """Nodes of call paths are there that lie below others which are not."""
    done = _run_on_shrinking_disk(tmp_path, "full")
    assert (done.returncode, done.stdout) == (0, "8191 right\n")
    assert "no space left on the device" in done.stderr
    profile = load(tmp_path / "shrinking.trod")
    assert profile.functions["left_a"].entries == 1
    assert any("not all of its counts were in the file" in message for message in profile.messages)


FORKS = 38


@pytest.fixture(scope="module")
def forking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose tables grow without space being reserved for them, since there seems to be plenty."""
    directory = tmp_path_factory.mktemp("forking")
    must("cc", "-O1", "-c", PROGRAMS / "boundless.c", cwd=directory, env={"TRODDEN_PROFILE": "off"})
    options = ("--trodden-profile=paths", "--trodden-max-paths=none", "--trodden-call-paths=on", "-pthread")
    must("cc", *options, PROGRAMS / "scarce_forks.c", "boundless.o", "-o", "boundless", cwd=directory)
    must("cc", *options, PROGRAMS / "scarce_forks.c", "-o", "cautious", cwd=directory)
    return directory


@pytest.mark.parametrize(
    ("program", "place"),
    [
        *(("boundless", place) for place in ("plain", "thread", "handler", "lost")),
        ("cautious", "plain"),
    ],
)
def test_forks_that_have_space_for_a_part_of_what_they_copy(
    forking: Path, tmp_path: Path, program: str, place: str
) -> None:
    """It runs out at another page each time; where the parent has lost pages of its own, too."""
    run = [*TRODDEN, "run", "--quiet", "-o", "forks.trod", str(forking / program), "/dev/shm", place]
    done = execute(["unshare", "-rm", "sh", "-c", f"{_PLENTY} && {shlex.join(run)}"], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{FORKS} of {FORKS}\n", "")
    profile = load(tmp_path / "forks.trod")
    assert len(profile.processes) == FORKS + 1
    few, more = profile.functions["few"], 40 * FORKS if place == "lost" else 0
    assert few.paths is not None
    assert Counter(each.count for each in few.paths) == {FORKS + 1: 256}
    names = ("many", "jump", "eighth_a", "leaf_a", "leaf_b", "main")
    each = [profile.functions[name].entries for name in names]
    assert each == [(FORKS + 1) * 7000 + more, *((FORKS + 1) * calls for calls in (4, 1, 128, 128)), 1]
    assert not any(function.violations for function in profile.functions.values())
    (message,) = profile.messages
    assert "had no space for all counts while it ran" in message
