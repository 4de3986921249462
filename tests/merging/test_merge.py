"""Many files are merged into one profile: damaged ones are named, and memory does not grow."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.profile.making import (
    elf_bytes,
    function,
    pack_unit,
    profile_of,
    raw_bytes,
    sites_bytes,
    unit_counts_of,
    unit_of,
)
from trodden.collect.call_paths import CallPath
from trodden.errors import BadFile, InputMissing, LeftOut, UsageError
from trodden.merging import parts
from trodden.merging.merge import Merged, merge
from trodden.merging.unjoined import MOST_LISTED
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.store.trod import MAGIC, from_bytes, load, save, to_bytes
from trodden.program.record import seal, unseal

UNIT = unit_of(function("f", "a>b a>c b>d c>d d>exit"), function("g", "a>exit"), sites=[(0, 2)])


def run_of(times: int, *notes: str) -> Profile:
    """``f`` took its first path so often, the second once, and a call in c did not return once."""
    flow = {"a>b": times, "a>c": 2, "b>d": times, "c>d": 1, "d>exit": times + 1}
    return assemble("/bin/prog", [UNIT], [unit_counts_of(UNIT, {"f": flow}, {(0, 2): 1})], notes)


def files(folder: Path, runs: int) -> list[str]:
    names = [str(folder / f"{number}.trod") for number in range(runs)]
    for number, name in enumerate(names):
        save(run_of(number + 1), name)
    return names


def edges(profile: Profile) -> Sequence[int | None]:
    return profile.functions["f"].counted_edges


def damage(name: str, what: str) -> None:
    path = Path(name)
    data = path.read_bytes()
    match what:
        case "truncated":
            path.write_bytes(data[: len(data) // 2])
        case "flipped":
            path.write_bytes(data[:60] + bytes([data[60] ^ 4]) + data[61:])
        case "longer":
            path.write_bytes(data + b"x")
        case "empty":
            path.write_bytes(b"")
        case "foreign":
            path.write_bytes(b"#!/bin/sh\necho hello\n")
        case "later":
            path.write_bytes(data[:8] + b"\xff" + data[9:])
        case "missing":
            path.unlink()
        case "folder":
            path.unlink()
            path.mkdir()
        case "senseless":
            document = unseal(MAGIC, data, name)[0]
            path.write_bytes(seal(MAGIC, {**document, "counts": [[1]]}))


def test_counts_are_summed(tmp_path: Path) -> None:
    merged = merge(files(tmp_path, 7))
    f = merged.profile.functions["f"]
    assert (merged.taken, merged.left_out, merged.problems, merged.unjoined) == (7, 0, (), ())
    assert f.edge_counts == [28, 14, 28, 7, 35, 42]
    assert (f.cut_short, f.violations) == ({2: 7}, ())
    assert (merged.profile.messages, merged.profile.program, merged.profile.units) == (
        (),
        "/bin/prog",
        (UNIT,),
    )
    assert from_bytes(to_bytes(merged.profile), "x") == merged.profile


def test_merging_in_steps_makes_no_difference(tmp_path: Path) -> None:
    names = files(tmp_path, 6)
    halves = [str(tmp_path / "first"), str(tmp_path / "second")]
    save(merge(names[:2]).profile, halves[0])
    save(merge(names[2:]).profile, halves[1])
    assert merge(halves).profile == merge(names).profile


@pytest.mark.parametrize("position", [0, 2])
@pytest.mark.parametrize(
    "what",
    ["truncated", "flipped", "longer", "empty", "foreign", "later", "missing", "folder", "senseless"],
)
def test_a_damaged_file_is_named_and_left_out(tmp_path: Path, what: str, position: int) -> None:
    names = files(tmp_path, 4)
    damage(names[position], what)
    reported: list[str] = []
    merged = merge(names, report=reported.append)
    others = merge([name for name in names if name != names[position]])
    assert edges(merged.profile) == edges(others.profile)
    assert (merged.taken, merged.left_out) == (3, 1)
    assert merged.problems == tuple(reported)
    assert reported[0].startswith(f"{names[position]}: ")
    assert reported[0].endswith(" (left out)")
    assert merged.profile.messages == ("1 of 4 profiles were left out of the merge", *reported)


def test_strict_reads_everything_and_merges_nothing(tmp_path: Path) -> None:
    names = files(tmp_path, 4)
    damage(names[1], "truncated")
    damage(names[3], "flipped")
    reported: list[str] = []
    with pytest.raises(LeftOut, match="2 of 4 profiles cannot be merged; nothing was written"):
        merge(names, strict=True, report=reported.append)
    assert [line.split(":")[0] for line in reported] == [names[1], names[3]]
    assert merge([names[0], names[2]], strict=True).taken == 2


def test_strict_requires_every_function(tmp_path: Path) -> None:
    names = files(tmp_path, 1)
    other = unit_of(function("f", "a>b a>c b>d c>d d>exit"), function("h", "a>exit"), files=["/b/a.c"])
    save(profile_of(other, {"h": {"a>exit": 3}}), tmp_path / "other")
    assert [each.name for each in merge([*names, str(tmp_path / "other")]).unjoined] == ["h"]
    with pytest.raises(LeftOut, match=r"h of .*other was not joined: .*; nothing was written"):
        merge([*names, str(tmp_path / "other")], strict=True)


def test_nothing_to_merge(tmp_path: Path) -> None:
    names = files(tmp_path, 2)
    for name in names:
        damage(name, "truncated")
    with pytest.raises(BadFile, match="none of 2 files"):
        merge(names)
    with pytest.raises(InputMissing, match="no profile given"):
        merge([])
    with pytest.raises(UsageError, match="sum or evidence"):
        merge(names, combine="mean")


def test_a_file_is_counted_once_whatever_its_name(tmp_path: Path) -> None:
    names = files(tmp_path, 2)
    for other in ("link", "symlink", "copy"):
        path = tmp_path / other
        if other == "link":
            path.hardlink_to(names[0])
        elif other == "symlink":
            path.symlink_to(names[0])
        else:
            path.write_bytes(Path(names[1]).read_bytes())
    reported: list[str] = []
    again = [names[0], str(tmp_path / "link"), str(tmp_path / "symlink")]
    merged = merge([*names, *again, str(tmp_path / "copy")], report=reported.append)
    assert (merged.taken, merged.left_out) == (3, 0)
    assert edges(merged.profile)[0] == 1 + 2 + 2
    assert reported == [f"{name}: was given before; it is counted once" for name in again]
    assert merged.profile.messages == tuple(reported)


def test_a_damaged_file_may_be_named_again_once_repaired(tmp_path: Path) -> None:
    """What was left out has not been counted, so it has not been given before."""
    names = files(tmp_path, 2)
    good = Path(names[1]).read_bytes()
    damage(names[1], "flipped")

    def mending() -> Iterator[str]:
        yield from names
        with open(names[1], "r+b") as stream:
            stream.write(good)
        yield names[1]

    merged = merge(mending())
    assert (merged.taken, merged.left_out) == (2, 1)


def test_facts_are_read_once_per_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = files(tmp_path, 30)
    read: list[str] = []

    def counting(data: bytes, where: str) -> Profile:
        read.append(where)
        return from_bytes(data, where)

    monkeypatch.setattr(parts, "from_bytes", counting)
    merged = merge(names)
    assert read == names[:1]
    assert edges(merged.profile)[0] == sum(range(1, 31))


def test_a_profile_with_its_units_twice_is_refused(tmp_path: Path) -> None:
    names = files(tmp_path, 2)
    document = unseal(MAGIC, Path(names[1]).read_bytes(), "")[0]
    inner = {"a": 1, "units": document["units"], "counts": []}
    rest = {key: value for key, value in document.items() if key != "notes"}
    Path(names[1]).write_bytes(seal(MAGIC, {"x": inner, "notes": [], **rest}))
    merged = merge(names)
    assert merged.left_out == 1
    assert "twice" in merged.problems[0]


def test_counts_that_exceed_the_format(tmp_path: Path) -> None:
    """Their sum would be more than a file may hold, and the result could not be read again."""
    names = files(tmp_path, 2)
    document = unseal(MAGIC, Path(names[0]).read_bytes(), "")[0]
    document["counts"][0][0] = 1 << 127
    Path(names[0]).write_bytes(seal(MAGIC, document))
    merged = merge(names)
    assert merged.left_out == 1
    assert "larger than any program" in merged.problems[0]


def test_messages_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{number}") for number in range(MOST_LISTED + 50)]
    for number, name in enumerate(names):
        save(run_of(1, "the same everywhere", f"note {number}"), name)
    notes = merge(names).profile.messages
    assert len(notes) == MOST_LISTED + 1
    assert notes[:3] == ("the same everywhere", "note 0", "note 1")
    assert notes[-1] == "and 51 more messages of the profiles that were merged"


def test_many_damaged_files_are_counted(tmp_path: Path) -> None:
    good = files(tmp_path, 1)
    reported: list[str] = []
    merged = merge([*good, *(f"/nowhere/{number}" for number in range(300))], report=reported.append)
    assert (len(reported), merged.left_out, len(merged.problems)) == (300, 300, MOST_LISTED)
    assert merged.profile.messages[-1] == "and 200 more files were left out or given twice"


def _peak(names: Sequence[str]) -> int:
    tracemalloc.start()
    merged = merge(names)
    assert merged.taken == len(names)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_memory_does_not_grow_with_the_number_of_profiles(tmp_path: Path) -> None:
    names = files(tmp_path, 600)
    _peak(names[:10])
    few, many = _peak(names[:20]), _peak(names)
    # A file that was seen is a number in a set.
    assert many - few < 600 * 200


CODE_AT = 0x1000


def _raw(folder: Path, name: str, times: int, frames: int = 1) -> str:
    """The raw file of a process in which ``f`` was left by calls in c."""
    program = folder / "prog"
    if not program.exists():
        sites = sites_bytes(UNIT, [(CODE_AT, 0, False), (CODE_AT + 8, 0, True)])
        program.write_bytes(elf_bytes({".trodden": pack_unit(UNIT), ".trodden_sites": sites}))
    counts = list(run_of(times).unit_counts[0].counters)
    raw = folder / name
    data = raw_bytes([(0, str(program))], [(UNIT.id, 0, counts)], [(0, 0, CODE_AT + 8)] * frames)
    raw.write_bytes(data)
    return str(raw)


def test_raw_files_are_profiles_too(tmp_path: Path) -> None:
    names = [_raw(tmp_path, "1.raw", 5), *files(tmp_path, 3), _raw(tmp_path, "2.raw", 6)]
    merged = merge(names)
    assert (merged.taken, merged.problems) == (5, ())
    assert edges(merged.profile) == [17, 10, 17, 5, 22, 27]
    assert merged.profile.functions["f"].cut_short == {2: 5}
    assert merged.profile.program == str(tmp_path / "prog")


def test_a_damaged_raw_file_is_left_out(tmp_path: Path) -> None:
    bad = _raw(tmp_path, "1.raw", 5)
    damage(bad, "truncated")
    merged = merge([bad, *files(tmp_path, 1)])
    assert (merged.taken, merged.left_out) == (1, 1)
    assert merged.problems[0].startswith(bad)


def test_a_raw_file_whose_program_is_gone_is_left_out(tmp_path: Path) -> None:
    raw = _raw(tmp_path, "1.raw", 5)
    os.unlink(tmp_path / "prog")
    merged = merge([raw, *files(tmp_path, 1)])
    assert merged.left_out == 1
    assert "is gone" in merged.problems[0]


def test_call_paths_are_summed(tmp_path: Path) -> None:
    path = CallPath(((UNIT.id, 0), (UNIT.id, 1)), 3)
    for name in "ab":
        save(replace(run_of(1), call_paths=(path,)), tmp_path / name)
    merged: Merged = merge([str(tmp_path / name) for name in "ab"])
    assert merged.profile.call_paths == (replace(path, count=6),)


def test_an_empty_profile(tmp_path: Path) -> None:
    save(assemble("p", [], []), tmp_path / "none")
    merged = merge([str(tmp_path / "none"), *files(tmp_path, 1)])
    assert merged.left_out == 1
    assert "nothing in it" in merged.problems[0]
    assert load(files(tmp_path, 1)[0]) == run_of(1)
