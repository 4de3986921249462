"""What a program of the suite is: its sources, its inputs, and the output that every run must produce.

Nothing here builds or runs anything: :mod:`bench.build` and :mod:`bench.run` do.  A case does not depend on
where it is run.  Its input files are in one directory, to which the directory of a run has a link of a fixed
name, so that every build is called with the same arguments on every machine: neither what a program prints
about its files nor the number of instructions that it takes to process their names depends on where the
checkout is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

Language: TypeAlias = Literal["C", "C++", "Rust"]
CaseName: TypeAlias = Literal["train", "ref", "long"]
CASES: tuple[CaseName, ...] = ("train", "ref", "long")

Files: TypeAlias = Callable[[Path], None]
"""Writes input files into an empty directory, with the same bytes everywhere."""


@dataclass(frozen=True)
class Archive:
    """A source archive: the package client that fetches it, what to ask for, its file name, its checksum."""

    client: str
    package: str
    file: str
    sha256: str


class Source(Protocol):
    """The sources of one executable; :func:`bench.build.builders.builder` knows how to build each kind."""

    @property
    def language(self) -> Language:
        """The language that it is written in."""
        ...

    @property
    def archive(self) -> Archive | None:
        """The archive that the sources come from, unless they are our own."""
        ...

    @property
    def version(self) -> str:
        """The version, as the page shows it."""
        ...


class Client(Protocol):
    """Talks to a program that is a server, while that runs.

    It waits until the server accepts connections (``alive`` tells whether the process still runs), sends the
    requests of the case, shuts the server down, and returns all replies.
    """

    def __call__(self, directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
        """Talk to the server that runs in this directory."""
        ...


@dataclass(frozen=True)
class Case:
    """One input of a program.

    In an argument, ``@name`` stands for the path of the input file ``name``.  ``sha256`` is the hash of the
    whole output: what the program prints (of a server: its replies), then each file of ``outputs``, which it
    writes into its working directory, in order.
    """

    arguments: tuple[str, ...]
    files: Files
    sha256: str
    stdin: str = ""
    outputs: tuple[str, ...] = ()
    status: int = 0


@dataclass(frozen=True)
class Workload:
    """Many short runs of a program, each a line of a shell script, for profiles that cover much of it.

    The lines run in a directory with ``files``.  The command that a line names is the instrumented program;
    all other commands are those of the machine.
    """

    script: Path
    files: Files


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program with pinned sources; estimates can be evaluated on it if it has a workload."""

    name: str
    about: str = ""
    source: Source
    workload: Workload | None = None

    @property
    def version(self) -> str:
        """The version of its sources."""
        return self.source.version


@dataclass(frozen=True, kw_only=True)
class SuiteProgram(Program):
    """A program with three inputs: *train* and *ref*, which differ in kind, and *long* for times alone.

    ``long`` is more of the work of ``ref``: it takes some tenths of a second, so that the start of a process
    does not matter, and would be too much for a simulator.  A program that ``threads`` executes a number of
    instructions that varies a little from run to run.
    """

    train: Case
    ref: Case
    long: Case
    threads: bool = False
    client: Client | None = None

    def case(self, name: CaseName) -> Case:
        """The case of this name."""
        return {"train": self.train, "ref": self.ref, "long": self.long}[name]
