"""Processes that give up what they need to create files of their own: privileges, or their root directory."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.native.building import TRODDEN, environment
from tests.native.mapped_counts import (
    LIMIT,
    LineCounts,
    ProgramBuilder,
    counts_of_lines,
    differences,
    empty_counts,
    prepare_run,
    reference_counts,
)
from trodden.collect.gather import gather_all
from trodden.collect.rawfile.family import Inside, family_of
from trodden.collect.rawfile.find import raw_files
from trodden.collect.rawfile.raw import read_raw
from trodden.native.execute.rundir import still_counting
from trodden.profile.from_runs import collect

SOURCE = "privileges.c"
LIBRARIES = {"glibc": (), "musl": ("-target", f"{platform.machine()}-linux-musl")}
ROOT = os.geteuid() == 0
"""Others have a user namespace where needed, and lose the permission to write to the directory instead."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that every user may search, unlike those of pytest."""
    directory = Path(tempfile.mkdtemp(prefix="trodden-test-"))
    directory.chmod(0o755)
    (directory / "jail").mkdir()
    yield directory
    for each in directory.glob("*/"):
        each.chmod(0o700)
    shutil.rmtree(directory)


class Away:
    """A run of the program: what its processes have counted, wherever that is."""

    def __init__(self, program: Path, letters: str, place: Path) -> None:
        self.counts, self.mapped, variables = prepare_run(place)
        self.counts.chmod(0o700)
        self.mapped.chmod(0o666)
        command = [str(program), letters, str(place / "jail"), str(self.counts)]
        if not ROOT and set("cm") & set(letters):
            command = ["unshare", "-rm", *command]
        self.done = subprocess.run(
            command, env=variables, capture_output=True, text=True, check=False, timeout=LIMIT
        )
        self.counts.chmod(0o700)

    @property
    def names(self) -> Iterator[str]:
        for path in raw_files([self.counts]):
            family = family_of(path)
            if family.alone:
                yield Inside(path, 0, 0) if family.inside else path
            yield from family.inside

    def counted(self) -> LineCounts:
        by_process: dict[int, list[str]] = defaultdict(list)
        for name in self.names:
            by_process[read_raw(name).pid].append(name)
        return {pid: counts_of_lines(collect(names), (SOURCE,)) for pid, names in by_process.items()}

    def check(self, processes: int) -> None:
        """All processes have their counts, those that were killed up to one."""
        assert (self.done.returncode, self.done.stderr) == (7, "")
        counted, reference = self.counted(), reference_counts(self.mapped, (SOURCE,))
        assert counted.keys() == reference.keys()
        assert len(counted) == processes
        gathered, left_out = gather_all([self.counts])
        assert (left_out.messages, len(gathered.processes)) == ((), len(list(self.names)))
        assert not [each for each in gathered.messages if re.search("lost|not all|left no|corrupt", each)]
        killed = {process.pid for process in gathered.processes if process.ending.value == "killed"}
        off = differences(counted, reference)
        assert {key: pair for key, pair in off.items() if key[0] not in killed} == {}
        assert all(abs(one - other) <= 1 for one, other in off.values())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "letters",
    ["uf", "gf", "ef", "eEf", "efE", "rf", "sf", "RSGuf", "tuf", "duf", "cf", "cuf", "dcuf", "mf", "xuf"],
)
def test_children_after_privileges_are_lost(
    programs: ProgramBuilder, place: Path, letters: str, library: str
) -> None:
    program = programs.build(SOURCE, "edges-O2", *LIBRARIES[library], name=f"privileges-{library}")
    Away(program, letters, place).check(7)
    assert not any((place / "jail").iterdir())


@pytest.mark.parametrize(("letters", "processes"), [("efEf", 13), ("uxf", 7), ("uvf", 8), ("gxuxf", 7)])
def test_programs_that_are_executed_afterwards(
    programs: ProgramBuilder, place: Path, letters: str, processes: int
) -> None:
    program = programs.build(SOURCE, "edges-O2", name="privileges-glibc")
    run = Away(program, letters, place)
    if ROOT or letters == "efEf":
        run.check(processes)
        return
    # That a directory loses a permission is unseen; the executed program says that it can write nothing.
    assert "cannot write" in run.done.stderr
    assert len(run.counted()) == 1


@pytest.mark.parametrize("variant", ["edges-O0", "paths-O2"])
def test_paths_of_such_children(programs: ProgramBuilder, place: Path, variant: str) -> None:
    program = programs.build(SOURCE, variant, "--trodden-call-paths=on", name="privileges-calls")
    Away(program, "tuf", place).check(7)


@pytest.mark.parametrize(
    ("letters", "why"),
    [
        ("udf", "it could make no file of its own (permission denied)"),
        ("cudf", "the directory of its file was not"),
    ],
)
def test_children_that_lose_the_descriptor_are_named(
    programs: ProgramBuilder, place: Path, letters: str, why: str
) -> None:
    """Where a program closes all descriptors that it does not know, behind the loss of its privileges."""
    run = Away(programs.build(SOURCE, "edges-O2", name="privileges-glibc"), letters, place)
    if not ROOT and letters == "udf":  # the file is still theirs
        run.check(7)
        return
    assert run.done.returncode == 7
    assert "cannot write" in run.done.stderr
    gathered, _ = gather_all([run.counts])
    (message,) = [each for each in gathered.messages if "has left no counts" in each]
    assert message.startswith("each of 6 processes")
    assert why in message
    assert not any((place / "jail").iterdir())


@pytest.mark.parametrize("letters", ["cubf", "ubf"])
def test_a_daemon_without_a_file_of_its_own(programs: ProgramBuilder, place: Path, letters: str) -> None:
    """It is found to run still, without /proc in its root directory, too."""
    program = programs.build(SOURCE, "edges-O2", name="privileges-glibc")
    mapped = empty_counts(place / "mapped")
    variables = environment({"MAPPED_COUNTS": str(mapped)})
    where = f'{place}/jail "${{TRODDEN_FILE%/*}}"'
    apart = "" if ROOT or "c" not in letters else "unshare -rm "
    script = f"exec {apart}{shlex.quote(str(program))} {letters} {where}"
    run = [*TRODDEN, "run", "-o", str(place / "x.trod"), "sh", "-c", script]
    reader, writer = os.pipe()
    done = subprocess.run(
        run,
        cwd=place,
        env=variables,
        stdin=reader,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    os.close(reader)
    assert done.returncode == 7
    (directory,) = re.findall(r"process \d+: still running; at its end: trodden collect (\S+) ", done.stderr)
    assert "its counts are with those of processes that still run" in done.stderr
    os.close(writer)
    (raw,) = Path(directory).glob("*.raw")
    assert still_counting([raw], LIMIT) == []
    profile = collect([directory])
    assert len(profile.processes) == 8
    assert profile.functions["child"].entries == 3
    assert 3 - profile.functions["grandchild"].entries in (0, 1)  # one was killed
    Path(directory).chmod(0o700)
    shutil.rmtree(directory)
