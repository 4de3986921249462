"""Live files that lack regions: what they have is right, what they lack is named, and nothing is made up."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.native.building import execute, must, trodden
from trodden.api import profiles
from trodden.collect.rawfile.live_regions import NO_MEMORY, NO_OFFSET, REGION, RegionKind
from trodden.errors import BadFile
from trodden.profile.model import Profile
from trodden.profile.store.trod import load

_PID = 16
_FLAGS = 56
_TABLE = 112
_NO_SPACE = 3

LIBRARY = "int twice(int n) { return n > 2 ? 2 * n : n + n; }\n"
PROGRAM = """
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int twice(int);
static int count(void) {
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += twice(i);
    return sum;
}
int main(void) {
    if (!fork()) {
        count();
        raise(SIGTERM);
    }
    wait(NULL);
    return 0;
}
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The live file of a forked child that has died by SIGTERM, of a program with a library."""
    directory = tmp_path_factory.mktemp("live")
    (directory / "twice.c").write_text(LIBRARY)
    (directory / "main.c").write_text(PROGRAM)
    must("cc", "-shared", "-fPIC", "twice.c", "-o", "libtwice.so", cwd=directory)
    must("cc", "main.c", "-L.", "-ltwice", "-Wl,-rpath,$ORIGIN", "-o", "main", cwd=directory)
    done = execute([str(directory / "main")], directory, {"TRODDEN_FILE": str(directory / "%p.raw")})
    assert (done.returncode, done.stderr) == (0, "")
    (child,) = [path for path in directory.glob("*.raw") if path.read_bytes().startswith(b"TRODLIVE")]
    return child


def _without(live: Path, made: Path, *lacks: tuple[RegionKind, str]) -> str:
    """A copy without the regions of a kind that belong to the module whose path has that end."""
    data = bytearray(live.read_bytes())
    (count,) = struct.unpack_from("<Q", data, 72)
    regions: list[tuple[int, tuple[Any, ...]]] = [
        (at, REGION.unpack_from(data, at)) for at in range(_TABLE, _TABLE + count * REGION.size, REGION.size)
    ]
    names = {}
    for _, (offset, _, _, kind, module) in regions:
        if kind == RegionKind.MODULE:
            units, _, length = struct.unpack_from("<III", data, offset + 12)
            path = offset + 24 + units * 32
            names[module] = bytes(data[path : path + length]).decode()
    for at, (_, *others) in regions:
        *_, kind, module = others
        if any(kind == each and names.get(module, "").endswith(name) for each, name in lacks):
            REGION.pack_into(data, at, NO_OFFSET, *others)
    struct.pack_into("<I", data, _FLAGS, _NO_SPACE)
    made.write_bytes(data)
    return str(made)


def _collect(raw: str, directory: Path) -> Profile:
    return profiles.collect([raw], (), str(directory / "made.trod")).profile


def _entries(profile: Profile) -> dict[str, float]:
    return {name: function.entries for name, function in profile.functions.items()}


def test_the_file_is_complete(live: Path, tmp_path: Path) -> None:
    """Its main has been entered by the parent."""
    assert _entries(_collect(str(live), tmp_path)) == {"twice": 5, "count": 1, "main": 0}


def test_a_module_without_space_for_its_counters(live: Path, tmp_path: Path) -> None:
    """The frames that the child inherited do not stand for counts that are not there."""
    lacking = ((RegionKind.SHARD, "/main"), (RegionKind.END_FRAMES, ""))
    profile = _collect(_without(live, tmp_path / "a.raw", *lacking), tmp_path)
    assert _entries(profile) == {"twice": 5, "count": 0, "main": 0}
    assert not any(function.violations for function in profile.functions.values())
    assert any(
        "not all of its counts were in the file, which had no space" in each for each in profile.messages
    )


@pytest.mark.parametrize(("lacking", "entries"), [("/main", {"twice": 5}), (".so", {"count": 1, "main": 0})])
def test_a_module_without_space_for_its_description(
    live: Path, tmp_path: Path, lacking: str, entries: dict[str, int]
) -> None:
    profile = _collect(_without(live, tmp_path / "a.raw", (RegionKind.MODULE, lacking)), tmp_path)
    assert _entries(profile) == entries
    assert any(
        "not all of its counts were in the file, which had no space" in each for each in profile.messages
    )


_ADDRESS = 0x7F00_0000_0000


@pytest.mark.parametrize("kind", [each for each in RegionKind if each not in NO_MEMORY])
def test_a_region_that_nothing_was_written_to_yet(live: Path, tmp_path: Path, kind: RegionKind) -> None:
    """The process has ended between the moment at which a thread got memory and its first use of it."""
    data = bytearray(live.read_bytes())
    (count,) = struct.unpack_from("<Q", data, 72)
    size = 1 << 20
    REGION.pack_into(data, _TABLE + count * REGION.size, len(data), size, _ADDRESS, kind, 0)
    struct.pack_into("<Q", data, 72, count + 1)
    raw = tmp_path / "a.raw"
    raw.write_bytes(data + bytes(size))
    profile, before = _collect(str(raw), tmp_path), _collect(str(live), tmp_path)
    assert _entries(profile) == _entries(before)
    assert profile.messages == before.messages


def test_a_file_without_any_module(live: Path, tmp_path: Path) -> None:
    """It is not that the program was not built with trodden."""
    raw = _without(live, tmp_path / "a.raw", (RegionKind.MODULE, "/main"), (RegionKind.MODULE, ".so"))
    done = trodden("collect", raw, "-o", "made.trod", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (BadFile.status, "")
    assert re.search(
        r"a\.raw: process \d+ has left no counts: there was no space for any in its file", done.stderr
    )


def test_a_file_without_any_module_beside_others(live: Path, tmp_path: Path) -> None:
    """Its process is named, like one that there was no space for a file for."""
    raw = tmp_path / "a.raw"
    _without(live, raw, (RegionKind.MODULE, "/main"), (RegionKind.MODULE, ".so"))
    data = bytearray(raw.read_bytes())
    struct.pack_into("<Q", data, _PID, 1)
    raw.write_bytes(data)
    done = trodden("collect", raw, live, "-o", "made.trod", cwd=tmp_path)
    assert done.returncode == 0
    profile = load(tmp_path / "made.trod")
    assert _entries(profile) == {"twice": 5, "count": 1, "main": 0}
    assert any(
        re.match(r"process 1 has left no counts: there was no space for any", m) for m in profile.messages
    )
