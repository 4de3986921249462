"""What a program of the suite is: how it is built, what it is run on, and what must come out of it.

A case knows nothing of where it is run.  Its input files lie in one directory, and the directory of a run
has a link to that under a fixed name, so that every build is called with the same words on every machine:
what a program prints about its files, and the instructions that it takes to read their names, do not depend
on where the bench lies.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from bench.build.compile import Way
from bench.build.fetching import Archive
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.locking import held

LINK = "in"
"""The link, in the directory of a run, to the directory with the input files."""

_PLACE = re.compile(r"@(?=[a-z])")
_CHUNK = 1 << 20

CaseName = Literal["train", "ref", "long"]
CASES: tuple[CaseName, ...] = ("train", "ref", "long")


class Recipe(Protocol):
    """How one executable is built, in whatever way is asked for."""

    @property
    def language(self) -> Literal["C", "C++"]:
        """What it is written in."""
        ...

    @property
    def archive(self) -> Archive | None:
        """Where its sources come from, unless they are ours."""
        ...

    def built(self, way: Way, jobs: int = 1) -> Path:
        """The executable, built unless the same build is there already."""
        ...

    def fingerprint(self, way: Way) -> str:
        """Everything that the build follows from, as a hash."""
        ...

    def seconds(self, way: Way) -> float:
        """The processor time that the build took when it was made, whatever else went on beside it.

        Where one build makes several commands, it is the time of them all.
        """
        ...


class Driver(Protocol):
    """Talks to a program that serves others: called when its process has been started.

    It waits until the program answers (``alive`` says whether it has not ended meanwhile), does the work of
    the case, tells the program to end, and answers with everything that the program has replied.
    """

    def __call__(self, directory: Path, inputs: Path, alive: Callable[[], bool]) -> bytes:
        """Talk to the program whose working directory this is."""
        ...


@dataclass(frozen=True)
class Case:
    """One input of a program.

    ``@name`` stands for the path of the input file ``name``, inside a word too.  ``files`` makes all input
    files in an empty directory, with the same bytes everywhere.  ``sha256`` is of all that comes out: what
    the program prints (with a driver: what it replies), then each file of ``outputs``, in order.  Those are
    files that it writes into its working directory.
    """

    arguments: tuple[str, ...]
    files: Callable[[Path], None]
    sha256: str
    stdin: str = ""
    outputs: tuple[str, ...] = ()
    status: int = 0

    def words(self) -> list[str]:
        """The arguments as the program gets them in the directory of a run."""
        return [_PLACE.sub(f"{LINK}/", word) for word in self.arguments]

    def prepare(self, directory: Path, inputs: Path) -> Path:
        """Make the directory of a run anew, and answer with what the program is to read as its stdin."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        (directory / LINK).symlink_to(inputs.resolve())
        return inputs / self.stdin if self.stdin else Path("/dev/null")

    def digest(self, directory: Path, printed: Path) -> str:
        """The hash of what a run in this directory has put out."""
        found = hashlib.sha256()
        for path in (printed, *(directory / name for name in self.outputs)):
            if not path.is_file():
                raise BenchError(f"{path}: was not written by the run; look at what it says beside it")
            with path.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    found.update(chunk)
        return found.hexdigest()


@dataclass(frozen=True)
class SuiteProgram:
    """A program of the suite, with an input to learn from and another one to be measured on.

    ``long`` is more of the work of ``ref``, for times alone: it takes some tenths of a second, beside which
    starting a process is nothing, and would be too much for a simulator.
    ``threads``: it runs several threads, so that its instructions vary a little from run to run.
    """

    name: str
    version: str
    about: str
    recipe: Recipe
    train: Case
    ref: Case
    long: Case
    threads: bool = False
    driver: Driver | None = None

    def case(self, name: CaseName) -> Case:
        """The case of this name."""
        return {"train": self.train, "ref": self.ref, "long": self.long}[name]

    def inputs(self, name: CaseName) -> Path:
        """The directory with the input files of a case, made once a process: they follow their generator."""
        directory = WORK / "inputs" / self.name / name
        with held(directory.with_name(f"{name}.lock")):
            if directory not in _MADE:
                _make(directory, self.case(name).files)
                _MADE.add(directory)
        return directory


_MADE: set[Path] = set()
"""Inputs that this process has made already."""


def _make(directory: Path, files: Callable[[Path], None]) -> None:
    """Make input files; a directory that has the same ones stays, so that nobody reads half of them."""
    fresh = directory.with_name(f"{directory.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    files(fresh)
    if directory.is_dir() and contents(directory) == contents(fresh):
        shutil.rmtree(fresh)
        return
    shutil.rmtree(directory, ignore_errors=True)
    fresh.rename(directory)


def contents(directory: Path) -> str:
    """A hash of all files below a directory, with their names."""
    found = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        name, content = str(path.relative_to(directory)), path.read_bytes()
        found.update(f"{len(name)} {name} {len(content)} ".encode())
        found.update(content)
    return found.hexdigest()
