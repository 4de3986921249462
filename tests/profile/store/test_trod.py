"""The .trod file: it is read as it was written, and a failure never destroys the previous one."""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trodden
from tests.profile.making import function, positions_in, profile_of, unit_counts_of, unit_of, with_wrong
from trodden.collect.call_paths import CallPath
from trodden.errors import BadFile, CannotWrite, InputMissing, LaterVersion, TroddenError
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.store.trod import MAGIC, from_bytes, load, save, to_bytes
from trodden.program.record import seal, unseal

UNIT = unit_of(
    function("main", "a>b b>b b>c c>exit", {"a": [1], "b": [2]}),
    function("f", "a>exit"),
    skipped=[("odd", "it is odd")],
)


def _small() -> Profile:
    flows = {"main": {"a>b": 3, "b>b": 2**70, "b>c": 1, "c>exit": 1}, "f": {"a>exit": 2}}
    main, f = (UNIT.id, 0), (UNIT.id, 1)
    calls = [CallPath((main, f), 2**65, True), CallPath((f,), 2), CallPath((main,), 1)]
    return assemble("/bin/prog", [UNIT], [unit_counts_of(UNIT, flows, {(0, 1): 2})], ["a note"], calls)


def test_a_profile_is_read_as_it_was_written(tmp_path: Path) -> None:
    profile = _small()
    assert profile.functions["main"].violations == ()
    save(profile, tmp_path / "x.trod")
    assert trodden.load(tmp_path / "x.trod") == profile
    assert load(str(tmp_path / "x.trod")).functions["main"].edges[1].count == 2**70


def test_a_file_cut_anywhere_is_refused() -> None:
    content = to_bytes(_small())
    for length in range(len(content)):
        with pytest.raises(BadFile, match=r"x.trod: truncated"):
            from_bytes(content[:length], "x.trod")
    with pytest.raises(BadFile, match="1 bytes too long"):
        from_bytes(content + b"x", "x.trod")


def test_a_flipped_bit_never_goes_unnoticed() -> None:
    content = to_bytes(_small())
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x04
        with pytest.raises((BadFile, LaterVersion)):
            from_bytes(bytes(damaged), "x.trod")


def test_a_later_version_is_named_as_such() -> None:
    content = bytearray(to_bytes(_small()))
    struct.pack_into("<I", content, 8, 9)
    with pytest.raises(LaterVersion, match=r"x.trod: written by a later trodden \(format 9\)"):
        from_bytes(bytes(content), "x.trod")


DOCUMENT = unseal(MAGIC, to_bytes(_small()), "x")[0]


@settings(max_examples=1000, deadline=None)
@given(
    st.sampled_from(positions_in(DOCUMENT)),
    st.sampled_from([-1, 0, 1, 10**30, 1.5, "x", None, [], {}, [1, 2]]),
)
def test_invalid_content_with_a_valid_checksum_is_refused_or_sound(
    position: tuple[Any, ...], wrong: Any
) -> None:
    document = with_wrong(DOCUMENT, position, wrong)
    try:
        profile = from_bytes(seal(MAGIC, document), "x.trod")
    except TroddenError:
        return
    for each in profile.functions.values():
        assert len(each.blocks) == len(each.facts.blocks)
        assert each.entries is not None


def test_missing_and_foreign_files(tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match=r"gone.trod: cannot be read: No such file"):
        load(tmp_path / "gone.trod")
    (tmp_path / "x.trod").write_text("something else, and long enough to hold a header")
    with pytest.raises(BadFile, match="not a trodden record"):
        load(tmp_path / "x.trod")


def test_endless_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InputMissing, match="cannot be read: it is not a regular file"):
            load(name)


def test_a_result_replaces_the_former_one_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x.trod"
    path.write_bytes(b"old")
    path.chmod(0o640)
    save(_small(), path)
    assert load(path) == _small()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["x.trod"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.trod").write_bytes(b"old")
    (tmp_path / "link.trod").symlink_to("real.trod")
    save(_small(), tmp_path / "link.trod")
    assert (tmp_path / "link.trod").is_symlink()
    assert load(tmp_path / "real.trod") == _small()


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_failure_leaves_the_former_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    path = tmp_path / "x.trod"
    path.write_bytes(b"the former result")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, fails, full)
    with pytest.raises(CannotWrite, match=r"x.trod: cannot be written: No space left on device"):
        save(_small(), path)
    assert path.read_bytes() == b"the former result"
    assert [each.name for each in tmp_path.iterdir()] == ["x.trod"]


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="No such file or directory"):
        save(_small(), tmp_path / "nowhere" / "x.trod")
    with pytest.raises(CannotWrite):
        save(_small(), tmp_path)


def test_a_device_is_written_directly() -> None:
    save(_small(), "/dev/null")
    with pytest.raises(CannotWrite, match="No space left"):
        save(_small(), "/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_profile_of_a_large_program_loads_quickly(tmp_path: Path) -> None:
    shape = " ".join(f"b{i}>b{i + 1}" for i in range(24)) + "".join(f" b{i}>b{i * 7 % 25}" for i in range(12))
    functions = [function(f"f{i}", f"{shape} b24>exit", {"b1": [i], "b9": [i + 1]}) for i in range(1600)]
    profile = profile_of(unit_of(*functions), {f"f{i}": {"b24>exit": i} for i in range(1600)})
    save(profile, tmp_path / "large.trod")
    start = time.process_time()
    assert len(load(tmp_path / "large.trod").functions) == 1600
    assert time.process_time() - start < 4
