"""Kinds of sources: files that are compiled one by one, packages with a Makefile, Redis, and Rust crates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from bench.suite.model import Archive, Language

RULES_FILE = "bench.mk"
"""A makefile that the benchmark adds to a configured package."""

RULES = "include Makefile\n.PHONY: bench-headers\nbench-headers: $(BUILT_SOURCES)\n"

GENERATED_HEADERS = ("-f", RULES_FILE, "bench-headers")
"""The step of make that generates headers; the package's own target ``all`` would build far more."""


@dataclass(frozen=True, kw_only=True)
class SourceFiles:
    """A program that is compiled file by file.

    ``sources`` are patterns below ``directory`` of the archive, without the file names in ``excluded``;
    ``own`` are files of our own, in our data directory unless the path is absolute, and ``headers`` are
    headers there that these include.  In a flag, ``@sources`` stands for the directory of the fetched sources
    and ``@own`` for our data directory.
    """

    name: str
    version: str
    archive: Archive | None = None
    directory: str = ""
    sources: tuple[str, ...] = ()
    excluded: frozenset[str] = frozenset()
    own: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    language: Language = "C"


@dataclass(frozen=True)
class Package:
    """A package with a configure script: its options, the steps of make, and the commands that these build.

    ``cxx_flags`` are the flags for its C++ code, if it has some.
    """

    name: str
    version: str
    archive: Archive
    directory: str
    commands: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = (("-C", "lib"), ("-C", "src"))
    options: tuple[str, ...] = ()
    cxx_flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PackageCommand:
    """One command of a package; all commands of the package are built together."""

    package: Package
    command: str

    @property
    def version(self) -> str:
        """The version of the package, and its name."""
        return f"{self.package.version} ({self.package.name})"

    @property
    def language(self) -> Language:
        """The language that the package is written in."""
        return "C++" if self.package.cxx_flags else "C"

    @property
    def archive(self) -> Archive:
        """The archive of the package."""
        return self.package.archive

    @property
    def path(self) -> str:
        """Where make leaves it, below the directory of the build."""
        (path,) = (path for path in self.package.commands if PurePath(path).name == self.command)
        return path


@dataclass(frozen=True)
class RedisSource:
    """One target of the Makefile of Redis, which builds all libraries inside Redis as well."""

    version: str
    archive: Archive
    directory: str
    target: str
    language: Language = "C"


@dataclass(frozen=True)
class RustCrates:
    """A Rust library and the program that uses it, both our own."""

    library: str
    program: str
    flags: tuple[str, ...]
    version: str = "ours"
    archive: Archive | None = None
    language: Language = "Rust"
