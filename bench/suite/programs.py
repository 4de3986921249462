"""The programs that everything is measured on: real ones, fetched when they are needed, and one in C++.

Each has pinned sources, the flags that it is built with everywhere, and an input made by
a seeded generator.  What would make two builds of one source behave differently (a hash seeded with the
time and addresses) is switched off by a definition, so that counts can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.build.fetching import Archive, unpacked
from bench.suite.inputs import small as inputs
from bench.support.directories import DATA, WORK
from bench.support.errors import BenchError

_OWN = DATA


@dataclass(frozen=True, kw_only=True)
class Sources:
    """A program that is compiled file by file: where its sources are and how they are compiled.

    ``sources`` are patterns below ``directory`` of the archive, ``own`` are files of ours beside them, and
    ``headers`` others of ours that those include.  In a flag, ``@sources`` stands for the directory of the
    sources and ``@own`` for that of ours.
    """

    name: str
    version: str
    archive: Archive | None = None
    directory: str = ""
    sources: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    own: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    cxx: bool = False

    def files(self) -> list[Path]:
        """All source files, fetched if need be."""
        found = [_OWN / name for name in self.own]
        if self.archive is not None:
            home = self.source_directory()
            for pattern in self.sources:
                found += sorted(path for path in home.glob(pattern) if path.name not in self.without)
        if len(found) < len(self.sources) + len(self.own):
            raise BenchError(f"{self.name}: sources are missing from {self.source_directory()}")
        return found

    def compile_flags(self) -> list[str]:
        """The flags, with the directories that they speak of."""
        places = {"@sources": str(self.source_directory()), "@own": str(_OWN)}
        return [_replaced(flag, places) for flag in self.flags]

    def own_headers(self) -> list[Path]:
        """The headers of ours, which a build follows from as it does from the sources."""
        return [_OWN / name for name in self.headers]

    def source_directory(self) -> Path:
        """Where the fetched sources (or ours) lie."""
        if self.archive is None:
            return _OWN
        return unpacked(self.archive, self.directory, WORK)


@dataclass(frozen=True, kw_only=True)
class Program(Sources):
    """Sources with one input to run the program on; an argument ``@input`` stands for that file."""

    make_input: Callable[[Path], None]
    arguments: tuple[str, ...] = ("@input",)

    def input_file(self) -> Path:
        """The input, made anew each time so that it follows its generator."""
        path = WORK / "inputs" / f"{self.name}.in"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.make_input(path)
        return path

    def command(self, executable: Path, input_file: Path) -> list[str]:
        """The command line that runs a build of it."""
        return [str(executable), *(str(input_file) if word == "@input" else word for word in self.arguments)]


def _replaced(flag: str, places: Mapping[str, str]) -> str:
    for name, place in places.items():
        flag = flag.replace(name, place)
    return flag


PROGRAMS: tuple[Program, ...] = (
    Program(
        name="bzip2",
        version="1.0.8",
        make_input=inputs.text,
        arguments=("-k", "-c", "@input"),
        archive=Archive(
            "apt",
            "bzip2",
            "bzip2_1.0.8.orig.tar.gz",
            "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269",
        ),
        directory="bzip2-1.0.8",
        sources=(
            *("blocksort.c", "huffman.c", "crctable.c", "randtable.c"),
            *("compress.c", "decompress.c", "bzlib.c", "bzip2.c"),
        ),
    ),
    Program(
        name="lua",
        version="5.4.4",
        make_input=inputs.lua,
        archive=Archive(
            "apt",
            "lua5.4",
            "lua5.4_5.4.4.orig.tar.gz",
            "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61",
        ),
        directory="lua-5.4.4/src",
        sources=("*.c",),
        without=frozenset({"luac.c"}),
        flags=(
            *("-std=gnu99", "-DLUA_COMPAT_5_3", "-DLUA_USE_LINUX"),
            # Seeds and slots that would depend on the time and on addresses.
            *("-Dluai_makeseed(L)=1", "-DSTRCACHE_N=1", "-DSTRCACHE_M=2"),
        ),
        libraries=("-lm", "-ldl"),
    ),
    Program(
        name="espresso",
        version="in pyeda 0.29.0",
        make_input=inputs.pla,
        archive=Archive(
            "pip",
            "pyeda==0.29.0",
            "pyeda-0.29.0.tar.gz",
            "efd4d3e548079ca059f44f9babb9bd67b332ec1762897324fcceb8da1d0f5fed",
        ),
        directory="pyeda-0.29.0/thirdparty/espresso/src",
        sources=("*.c",),
        flags=("-std=gnu89", "-Wno-incompatible-function-pointer-types"),
        libraries=("-lm",),
    ),
    Program(
        name="zstd",
        version="in zstandard 0.25.0",
        make_input=inputs.text,
        archive=Archive(
            "pip",
            "zstandard==0.25.0",
            "zstandard-0.25.0.tar.gz",
            "7713e1179d162cf5c7906da876ec2ccb9c3a9dcbdffef0cc7f70c3667a205f0b",
        ),
        directory="zstandard-0.25.0/zstd",
        sources=("zstd.c",),
        own=("zstd_file.c",),
        flags=("-I@sources",),
    ),
    Program(
        name="sqlite",
        version="in better-sqlite3 12.11.1",
        make_input=inputs.sql,
        archive=Archive(
            "npm",
            "better-sqlite3@12.11.1",
            "better-sqlite3-12.11.1.tgz",
            "ebf0ed75a7a59dbcb3b24bbd014ef49d9f15bc328e4adcbf516f2a8fadfa2835",
        ),
        directory="package/deps/sqlite3",
        sources=("sqlite3.c",),
        own=("sqlite_script.c",),
        flags=(
            *("-I@sources", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"),
            *("-DSQLITE_TEMP_STORE=3", "-DSQLITE_DEFAULT_MEMSTATUS=0"),
        ),
        libraries=("-lm",),
    ),
    Program(
        name="evaluator",
        version="ours",
        make_input=inputs.expressions,
        own=("evaluator.cpp",),
        flags=("-std=c++17",),
        cxx=True,
    ),
)


def chosen(names: Sequence[str]) -> list[Program]:
    """The programs of these names, all if there is none."""
    known = {program.name: program for program in PROGRAMS}
    for name in names:
        if name not in known:
            raise BenchError(f"no program {name}; there are {', '.join(known)}")
    return [program for program in PROGRAMS if not names or program.name in names]
