"""ccache before ``trodden-cc``: an object from the cache has the probes that are asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from recipes.debian import command, environment
from tests.native.building import execute, must

SOURCE = """#include <stdio.h>
int main(int argc, char **argv) {
    if (argc > 3)
        puts(argv[3]);
    return 0;
}
"""
MODES = {
    "direct": {},
    "preprocessor": {"CCACHE_NODIRECT": "1"},
    "depend": {"CCACHE_DEPEND": "1"},
    "one preprocessor": {"CCACHE_NOCPP2": "1"},
    "sloppy": {"CCACHE_SLOPPINESS": "include_file_mtime,include_file_ctime,time_macros,system_headers"},
}
OPTIONS: tuple[dict[str, str], ...] = ({}, {"TRODDEN_PROFILE": "paths"}, {"TRODDEN_PROFILE": "off"})


@pytest.mark.parametrize("mode", MODES)
def test_no_mode_confuses_options(tmp_path: Path, mode: str) -> None:
    source = tmp_path / "main.c"
    source.write_text(SOURCE)
    os.utime(source, (10**9, 10**9))
    compiler = str(Path(sys.executable).with_name("trodden-cc"))
    cache = {"CCACHE_DIR": str(tmp_path / "cache"), **MODES[mode], **environment("ccache")}
    # The source may be compiled from its preprocessed form, whose name debug information would have.
    flags = ["-g0" if mode == "one preprocessor" else "-g", "-O1"]
    made: list[bytes] = []
    for round_ in range(2):
        for options in OPTIONS:
            words = [command("ccache", "ccache"), compiler, *flags, "-MD", "-c", "main.c", "-o", "main.o"]
            done = execute(words, tmp_path, cache | options)
            assert (done.returncode, done.stderr) == (0, "")
            made.append((tmp_path / "main.o").read_bytes())
            if mode != "one preprocessor":
                must("cc", *flags, "-c", "main.c", "-o", "plain.o", cwd=tmp_path, env=options)
                assert made[-1] == (tmp_path / "plain.o").read_bytes()
        assert len(set(made)) == len(OPTIONS), round_
    stats = execute([command("ccache", "ccache"), "--print-stats"], tmp_path, cache).stdout
    counts = dict(line.split("\t") for line in stats.splitlines())
    assert counts["direct_cache_hit"] == "0"
    assert counts["preprocessed_cache_hit"] == ("0" if mode == "depend" else "3")


def test_another_profile_as_weights_is_another_object(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(SOURCE)
    compiler = str(Path(sys.executable).with_name("trodden-cc"))
    cache = {"CCACHE_DIR": str(tmp_path / "cache"), **environment("ccache")}
    misses = []
    for arguments in (["a"], ["a", "b", "c", "d"], ["a"]):
        must("run", "-q", "-o", "weights.trod", "main.c", "--", *arguments, cwd=tmp_path)
        words = [command("ccache", "ccache"), compiler, "-c", "main.c", "-o", "main.o"]
        done = execute(words, tmp_path, cache | {"TRODDEN_WEIGHTS": "weights.trod"})
        assert (done.returncode, done.stderr) == (0, "")
        stats = execute([command("ccache", "ccache"), "--print-stats"], tmp_path, cache).stdout
        misses.append(dict(line.split("\t") for line in stats.splitlines())["cache_miss"])
    assert misses[:2] == ["1", "2"]
