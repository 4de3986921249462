"""Redis, built from its own sources by its own Makefile, in one way or another."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from bench.builds import Way, carry_out, fingerprint
from bench.fetching import Archive, unpacked
from bench.programs import WORK

VERSION = "7.0.15"
SERVER = "redis-server"
LOAD = "redis-benchmark"
_ARCHIVE = Archive(
    "apt",
    "redis",
    "redis_7.0.15.orig.tar.gz",
    "4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982",
)
_DIRECTORY = "redis-7.0.15"
# Valgrind's reader of debug information gives up on what newer compilers write.
_NO_DEBUG = ("DEBUG=", "DEBUG_FLAGS=")


def built(way: Way, target: str = SERVER) -> Path:
    """A program of Redis, built unless the same build is there already.

    The Makefile takes one compiler for everything, Lua and the other libraries inside Redis included, so
    that all flags travel with its name.
    """
    sources = unpacked(_ARCHIVE, _DIRECTORY, WORK)
    home = WORK / "build" / "redis" / f"{way.name}-{target}"
    compiler = shlex.join([*way.cc, *way.flags, "-w"])
    settings = [f"CC={compiler}", "MALLOC=libc", "OPTIMIZATION=-O2", *_NO_DEBUG]
    command = ["make", "-C", "src", "-j2", *settings, target]
    stamp = home / "stamp"
    state = fingerprint([command], [WORK / "archives" / _ARCHIVE.file], way)
    program = home / "tree" / "src" / target
    if stamp.is_file() and stamp.read_text() == state:
        return program
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(sources, home / "tree")
    carry_out(command, home / "tree", f"redis, {way.name}")
    stamp.write_text(state)
    return program
