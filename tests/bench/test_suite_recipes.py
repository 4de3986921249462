"""What a build follows from: sources, headers of ours, flags, the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.build.compile import Plan, clang
from bench.build.redis import Redis
from bench.suite import programs
from bench.suite.programs import Sources

WAY = clang("plain", "-O2")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sources:
    monkeypatch.setattr(programs, "_OWN", tmp_path)
    (tmp_path / "one.c").write_text('#include "one.h"\nint main(void) { return ONE - 1; }\n')
    (tmp_path / "one.h").write_text("#define ONE 1\n")
    flags = ("-I@own", "-DPLACE=@sources/x")
    return Sources(name="small", version="1", own=("one.c",), headers=("one.h",), flags=flags)


def test_flags_lead_to_our_own_directory(small: Sources, tmp_path: Path) -> None:
    assert small.compile_flags() == [f"-I{tmp_path}", f"-DPLACE={tmp_path}/x"]
    assert f"-I{tmp_path}" in Plan.of(small, WAY).commands[0]


def test_a_header_that_changes_makes_another_build(small: Sources, tmp_path: Path) -> None:
    before = Plan.of(small, WAY).state
    assert Plan.of(small, WAY).state == before
    (tmp_path / "one.h").write_text("#define ONE 2\n")
    assert Plan.of(small, WAY).state != before


def test_headers_are_not_compiled(small: Sources) -> None:
    assert [path.name for path in small.files()] == ["one.c"]


def test_redis_follows_from_the_way_and_from_what_is_made() -> None:
    states = {
        Redis().fingerprint(WAY),
        Redis().fingerprint(clang("plain", "-O2", "-fprofile-generate")),
        Redis("redis-benchmark").fingerprint(WAY),
    }
    assert len(states) == 3
    assert Redis().fingerprint(WAY) in states
