"""What a build depends on: sources, our own headers, flags, the configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.build import file_by_file, stamps
from bench.build.builders import builder
from bench.build.config import Config, clang
from bench.build.file_by_file import BuildPlan, compile_flags, source_files
from bench.suite.redis import LOAD_GENERATOR, SERVER
from bench.suite.sources import SourceFiles
from bench.support.errors import BenchError

CONFIG = clang("plain", "-O2")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceFiles:
    monkeypatch.setattr(file_by_file, "DATA", tmp_path)
    (tmp_path / "one.c").write_text('#include "one.h"\nint main(void) { return ONE - 1; }\n')
    (tmp_path / "one.h").write_text("#define ONE 1\n")
    flags = ("-I@own", "-DPLACE=@sources/x")
    return SourceFiles(name="small", version="1", own=("one.c",), headers=("one.h",), flags=flags)


def test_flags_name_our_data_directory(small: SourceFiles, tmp_path: Path) -> None:
    assert compile_flags(small) == [f"-I{tmp_path}", f"-DPLACE={tmp_path}/x"]
    assert f"-I{tmp_path}" in BuildPlan.of(small, CONFIG).commands[0]


def test_a_changed_header_makes_another_build(small: SourceFiles, tmp_path: Path) -> None:
    before = BuildPlan.of(small, CONFIG).fingerprint
    assert BuildPlan.of(small, CONFIG).fingerprint == before
    (tmp_path / "one.h").write_text("#define ONE 2\n")
    assert BuildPlan.of(small, CONFIG).fingerprint != before


def test_headers_are_not_compiled(small: SourceFiles) -> None:
    assert [path.name for path in source_files(small)] == ["one.c"]


def test_a_build_of_redis_depends_on_the_configuration_and_the_target() -> None:
    states = {
        builder(SERVER).fingerprint(CONFIG),
        builder(SERVER).fingerprint(clang("plain", "-O2", "-fprofile-generate")),
        builder(LOAD_GENERATOR).fingerprint(CONFIG),
    }
    assert len(states) == 3
    assert builder(SERVER).fingerprint(CONFIG) in states


def test_a_build_is_made_once_and_has_its_processor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "WORK", tmp_path)
    compiler, called = tmp_path / "compiler", tmp_path / "called"
    compiler.write_text(
        f"""\
#!/bin/sh
[ "$1" = --version ] && exit
echo "$*" >> {called}
while [ "$1" != -o ]; do shift; done
: > "$2"
"""
    )
    compiler.chmod(0o755)
    build = builder(SourceFiles(name="p", version="1", own=("threads.c",), libraries=("-lm",)))
    config = Config("plain", (str(compiler),), (str(compiler),), flags=("-O2",))
    assert build.executable(config) == build.executable(config) == tmp_path / "build" / "p" / "plain" / "p"
    assert len(called.read_text().splitlines()) == len(["compiled", "linked"])
    assert 0 <= build.seconds(config) < 60
    other = replace(config, flags=("-O1",))
    assert build.fingerprint(other) != build.fingerprint(config)
    build.executable(other)
    assert len(called.read_text().splitlines()) == 4
    compiler.write_text("#!/bin/sh\necho no such thing\nexit 1\n")
    with pytest.raises(BenchError, match=r"(?s)p, plain: .*no such thing"):
        build.executable(config)
    assert not (tmp_path / "build" / "p" / "plain" / "stamp").exists()


def test_sources_without_a_builder_are_an_error() -> None:
    with pytest.raises(BenchError, match="str: there is no builder for such sources"):
        builder("sources")
