"""Commands of Unix: those of WL94's Table 8 that are still around, and others, built as their authors do.

Each package is configured once by the machine's own clang; a copy of what that made is then built with the
compiler that is asked for, so that only make runs again when trodden changes.
"""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.build.compile import (
    CLANG,
    Way,
    carry_out,
    fingerprint,
    finish,
    home_of,
    is_there,
    lock_of,
    version_of,
)
from bench.build.fetching import Archive, unpacked
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.locking import held

# Headers that all objects need come first with "all", which would build far more than is wanted.
_RULES = "include Makefile\n.PHONY: bench-headers\nbench-headers: $(BUILT_SOURCES)\n"
_RULES_FILE = "bench.mk"
_HEADERS = ("-f", _RULES_FILE, "bench-headers")
_PLAIN = ("--disable-nls", "--disable-dependency-tracking", "--quiet")
_LIBRARY_FIRST = (("-C", "lib"), ("-C", "src"))


@dataclass(frozen=True)
class Package:
    """A source package: how it is configured, what make is to do, and where its commands are then.

    ``cxx`` are the flags that its C++ is compiled with, if it has some.
    """

    name: str
    version: str
    archive: Archive
    directory: str
    commands: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = _LIBRARY_FIRST
    options: tuple[str, ...] = (*_PLAIN, "--with-included-regex")
    cxx: tuple[str, ...] = ()


def _apt(package: str, file: str, sha256: str) -> Archive:
    return Archive("apt", package, file, sha256)


_COREUTILS = (
    *("src/factor", "src/split", "src/sum", "src/tsort", "src/uniq", "src/wc"),
    *("src/cut", "src/sort", "src/expr", "src/od"),
)

PACKAGES: tuple[Package, ...] = (
    Package(
        name="coreutils",
        version="9.1",
        archive=_apt(
            "coreutils",
            "coreutils_9.1.orig.tar.xz",
            "61a1f410d78ba7e7f37a5a4f50e6d1320aca33375484a3255eddf17a38580423",
        ),
        directory="coreutils-9.1",
        commands=_COREUTILS,
        steps=(_HEADERS, _COREUTILS),
        options=(
            *(*_PLAIN, "--with-included-regex", "--without-selinux", "--without-libgmp"),
            *("--without-openssl", "--disable-acl", "--disable-xattr", "--disable-libcap"),
        ),
    ),
    Package(
        name="diffutils",
        version="3.8",
        archive=_apt(
            "diffutils",
            "diffutils_3.8.orig.tar.xz",
            "a6bdd7d1b31266d11c4f4de6c1b748d4607ab0231af5188fc2533d0ae2438fec",
        ),
        directory="diffutils-3.8",
        commands=("src/cmp", "src/diff"),
    ),
    Package(
        name="ed",
        version="1.19",
        archive=_apt(
            "ed",
            "ed_1.19.orig.tar.gz",
            "8e5c3e7c84972e73957ff396b8318a21795f86547dd1fe4ec4232a9e6e44ca1d",
        ),
        directory="ed-1.19",
        commands=("ed",),
        steps=(("ed",),),
        options=(),
    ),
    Package(
        name="grep",
        version="3.8",
        archive=_apt(
            "grep",
            "grep_3.8.orig.tar.xz",
            "498d7cc1b4fb081904d87343febb73475cf771e424fb7e6141aff66013abc382",
        ),
        directory="grep-3.8",
        commands=("src/grep",),
    ),
    Package(
        name="gzip",
        version="1.12",
        archive=_apt(
            "gzip",
            "gzip_1.12.orig.tar.xz",
            "ce5e03e519f637e1f814011ace35c4f87b33c0bbabeec35baf5fbd3479e91956",
        ),
        directory="gzip-1.12",
        commands=("gzip",),
        steps=(("-C", "lib"), _HEADERS, ("gzip",)),
    ),
    Package(
        name="sed",
        version="4.9",
        archive=_apt(
            "sed",
            "sed_4.9.orig.tar.xz",
            "6e226b732e1cd739464ad6862bd1a1aba42d7982922da7a53519631d24975181",
        ),
        directory="sed-4.9",
        commands=("sed/sed",),
        steps=(_HEADERS, ("sed/sed",)),
        options=(*_PLAIN, "--with-included-regex", "--disable-acl", "--without-selinux"),
    ),
    Package(
        name="m4",
        version="1.4.19",
        archive=_apt(
            "m4",
            "m4_1.4.19.orig.tar.xz",
            "63aede5c6d33b6d9b13511cd0be2cac046f2e70fd0a07aa9573a04a82783af96",
        ),
        directory="m4-1.4.19",
        commands=("src/m4",),
    ),
    Package(
        name="gawk",
        version="5.2.1",
        archive=_apt(
            "gawk",
            "gawk_5.2.1.orig.tar.xz",
            "2337a0283b180ec1b9c727973a34781c6478b3ae9bcbdcca0a4dc49861d75a65",
        ),
        directory="gawk-5.2.1",
        commands=("gawk",),
        steps=(("-C", "support"), ("gawk",)),
        options=(*_PLAIN, "--disable-mpfr", "--disable-extensions", "--without-readline", "--disable-pma"),
    ),
    Package(
        name="gperf",
        version="3.1",
        archive=_apt(
            "gperf",
            "gperf_3.1.orig.tar.gz",
            "1f88819b78187350e7e6ca24b5e15cbf4083659773508d3f018b9b525e9d1cb8",
        ),
        directory="gperf-3.1",
        commands=("src/gperf",),
        steps=(("-C", "lib"), ("-C", "src")),
        options=(),
        cxx=("-std=gnu++98",),
    ),
)


def built(package: Package, way: Way, jobs: int = 1) -> dict[str, Path]:
    """The commands of a package by name, built unless the same build is there already."""
    home = home_of(package.name, way)
    tree = home / "tree"
    found = {Path(place).name: tree / place for place in package.commands}
    with held(lock_of(home)):
        state = state_of(package, way)
        if is_there(home, state):
            return found
        configured = _configured(package)
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(configured, tree, symlinks=True)
        what = f"{package.name}, {way.name}"
        spent = sum(carry_out([*step, f"-j{jobs}"], tree, what) for step in _steps(package, way))
        for path in found.values():
            if not path.is_file():
                raise BenchError(f"{package.name}: make has not made {path}")
        finish(home, state, spent)
    return found


def state_of(package: Package, way: Way) -> str:
    """Everything that a build of a package follows from, as a hash."""
    return fingerprint([*_steps(package, way), [_configuration(package)]], [], way)


def _steps(package: Package, way: Way) -> list[list[str]]:
    """The commands that build a package which is configured."""
    settings = [f"CC={shlex.join([*way.cc, '-w'])}", f"CFLAGS={shlex.join(way.flags)}"]
    if package.cxx:
        settings += [
            f"CXX={shlex.join([*way.cxx, '-w'])}",
            f"CXXFLAGS={shlex.join([*way.flags, *package.cxx])}",
        ]
    return [["make", *settings, *step] for step in package.steps]


def _configure(package: Package, sources: Path) -> list[str]:
    command = [str(sources / "configure"), *package.options, f"CC={CLANG}", "CFLAGS=-O2 -w"]
    if package.cxx:
        command += [f"CXX={CLANG} --driver-mode=g++", f"CXXFLAGS={shlex.join(['-O2', '-w', *package.cxx])}"]
    return command


def _configuration(package: Package) -> str:
    """Everything that the configuration of a package follows from."""
    sources = unpacked(package.archive, package.directory, WORK)
    return f"{shlex.join(_configure(package, sources))}\n{package.archive.sha256}\n{version_of(CLANG)}\n"


def _configured(package: Package) -> Path:
    """A directory in which the package is configured, with our rules beside its own."""
    sources = unpacked(package.archive, package.directory, WORK)
    home = WORK / "configured" / package.name
    stamp = home / "stamp"
    state = _configuration(package)
    with held(lock_of(home)):
        if stamp.is_file() and stamp.read_text() == state:
            return home
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        # Some configure scripts refuse to run for root unless they are told that it is meant.
        allowed = ["FORCE_UNSAFE_CONFIGURE=1"] if os.geteuid() == 0 else []
        carry_out(["env", *allowed, *_configure(package, sources)], home, f"{package.name}, configured")
        (home / _RULES_FILE).write_text(_RULES)
        stamp.write_text(state)
    return home
