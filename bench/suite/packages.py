"""Packages of Unix commands: those of WL94's Table 8 that still exist, and others of the same kind."""

from __future__ import annotations

from pathlib import PurePath

from bench.suite.model import Archive
from bench.suite.sources import GENERATED_HEADERS, Package, PackageCommand
from bench.support.errors import BenchError

_PLAIN = ("--disable-nls", "--disable-dependency-tracking", "--quiet")
_COREUTILS = (
    *("src/factor", "src/split", "src/sum", "src/tsort", "src/uniq", "src/wc"),
    *("src/cut", "src/sort", "src/expr", "src/od"),
)


def _apt(package: str, file: str, sha256: str) -> Archive:
    return Archive("apt", package, file, sha256)


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
        steps=(GENERATED_HEADERS, _COREUTILS),
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
        options=(*_PLAIN, "--with-included-regex"),
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
        options=(*_PLAIN, "--with-included-regex"),
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
        steps=(("-C", "lib"), GENERATED_HEADERS, ("gzip",)),
        options=(*_PLAIN, "--with-included-regex"),
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
        steps=(GENERATED_HEADERS, ("sed/sed",)),
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
        options=(*_PLAIN, "--with-included-regex"),
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
        cxx_flags=("-std=gnu++98",),
    ),
)


def command(name: str) -> PackageCommand:
    """The command of this name, of whichever package has it."""
    for package in PACKAGES:
        if name in (PurePath(path).name for path in package.commands):
            return PackageCommand(package, name)
    raise BenchError(f"no package has the command {name}")
