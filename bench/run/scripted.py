"""The programs that estimates are held against: each built with probes, run, and its runs in one profile.

    python -m bench.run.scripted [NAME ...] [--jobs N] [--as-built] [--level O2]

makes what is missing or older than trodden and says where it is.  A run may be short: what an estimate is
compared with is the order of blocks and edges, not how long anything takes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.build.compile import CLANG, Plan, Way, build, carry_out, fingerprint, need
from bench.build.packages import PACKAGES, built, state_of
from bench.suite.inputs import script_files as unix_inputs
from bench.suite.programs import PROGRAMS
from bench.support.directories import BENCH, DATA, WORK
from bench.support.errors import BenchError
from bench.support.locking import held

LEVEL = "O2"
"""How far the programs are optimised, unless it is said otherwise."""

_RUNS = DATA / "unix" / "runs"
"""A file for each program, whose lines are its runs.

The shell gets a line in a directory with all files that the runs read.  The command that a line names is
the one with probes in it, all others are the machine's.
"""
_SCRIPTS = DATA / "unix" / "scripts"
_SECONDS = 300


@dataclass(frozen=True)
class Subject:
    """A program to estimate: what it is part of, where that build leaves it, and how far it is optimised."""

    name: str
    package: str
    place: str
    level: str

    @property
    def executable(self) -> Path:
        """The program with probes in it, and with all that is known of it."""
        return WORK / "build" / self.package / _way_name(self.level) / self.place

    @property
    def ir(self) -> Path:
        """The directory with the very IR that probes were put into, see :mod:`bench.build.keep_ir`."""
        return _home(self.level) / "ir" / self.package

    @property
    def measured(self) -> Path:
        """The profile of all its runs."""
        return _home(self.level) / f"{self.name}.trod"

    @property
    def there(self) -> bool:
        """Whether it was built and measured before."""
        return self.executable.is_file() and self.measured.is_file()


def _way_name(level: str) -> str:
    return "estimates" if level == LEVEL else f"estimates-{level}"


def _home(level: str) -> Path:
    return WORK / _way_name(level)


def keeping(subject: Subject) -> Way:
    """A build by trodden that keeps its IR."""
    base = (sys.executable, "-P", str(BENCH / "build" / "keep_ir.py"), str(subject.ir))
    own = f"--trodden-toolchain={CLANG}"
    flags = (f"-{subject.level}",)
    return Way(_way_name(subject.level), (*base, "cc", own), (*base, "c++", own), flags, trodden=True)


def subjects(
    names: Sequence[str] = (), jobs: int = 2, as_built: bool = False, level: str = LEVEL
) -> list[Subject]:
    """The programs of these names (all if there is none), built and measured.

    With ``as_built``, what is there already will do, even if trodden has changed since.
    """
    known = {subject.name: subject for subject in every_subject(level)}
    for name in names:
        if name not in known:
            raise BenchError(f"no program {name}; there are {', '.join(known)}")
    wanted = [subject for subject in known.values() if not names or subject.name in names]
    doubtful = [each for each in wanted if not (as_built and each.there)]
    if doubtful:
        prepare(doubtful, jobs)
    return wanted


def every_subject(level: str) -> list[Subject]:
    """All programs, whether they are built or not."""
    commands = [
        Subject(Path(place).name, package.name, f"tree/{place}", level)
        for package in PACKAGES
        for place in package.commands
    ]
    return commands + [Subject(program.name, program.name, program.name, level) for program in PROGRAMS]


def prepare(doubtful: Sequence[Subject], jobs: int) -> None:
    """Build and measure programs of one level that are not there as they should be."""
    need([CLANG, "make"])
    ways = {subject.package: keeping(subject) for subject in doubtful}
    for package in PACKAGES:
        if package.name in ways:
            built(package, ways[package.name], jobs)
    plain = [program for program in PROGRAMS if program.name in ways]
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda program: build(program, ways[program.name]), plain))
        list(pool.map(_measure, doubtful))


def follows_from(subject: Subject) -> str:
    """Everything that the measured profile of a program follows from, as a hash, before anything is built."""
    way = keeping(subject)
    packages = [package for package in PACKAGES if package.name == subject.package]
    programs = [program for program in PROGRAMS if program.name == subject.package]
    states = [state_of(each, way) for each in packages] + [Plan.of(each, way).state for each in programs]
    return fingerprint([states], _inputs(subject), way)


def _measure(subject: Subject) -> None:
    """Run a program in all its ways and write what they have counted together, unless that is there."""
    stamp = subject.measured.with_suffix(".stamp")
    with held(subject.measured.with_suffix(".lock")):
        state = fingerprint([], [subject.executable, *_inputs(subject)], keeping(subject))
        if subject.measured.is_file() and stamp.is_file() and stamp.read_text() == state:
            return
        stamp.unlink(missing_ok=True)
        _run_all(subject)
        stamp.write_text(state)


def _run_all(subject: Subject) -> None:
    """Run a program in all its ways, in a place of its own, and collect what was counted."""
    lines = (_RUNS / subject.name).read_text().splitlines()
    place = _home(subject.level) / "runs" / subject.name
    shutil.rmtree(place, ignore_errors=True)
    files, raw, tools = place / "files", place / "raw", place / "tools"
    for directory in (files, raw, tools):
        directory.mkdir(parents=True)
    _lay_out(subject, files)
    (tools / subject.name).symlink_to(subject.executable)
    for number, line in enumerate(lines):
        environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "LC_ALL": "C",
            "TRODDEN_FILE": str(raw / f"{number:02}.%p.raw"),
        }
        _run(line, files, environment)
    collecting = [sys.executable, "-m", "trodden", "collect", str(raw), "-o", str(subject.measured)]
    carry_out(collecting, place, f"{subject.name}, collected")
    shutil.rmtree(place)


def _inputs(subject: Subject) -> list[Path]:
    """What the runs of a program, and the files that they read, are made of."""
    makers = [BENCH / "suite/inputs/script_files.py", BENCH / "suite/inputs/small.py", _RUNS / subject.name]
    return [*makers, *sorted(_SCRIPTS.iterdir())]


def _lay_out(subject: Subject, files: Path) -> None:
    """The files that the runs of a program read."""
    for program in PROGRAMS:
        if program.name == subject.name:
            program.make_input(files / "input")
            return
    unix_inputs.write(files)
    for script in _SCRIPTS.iterdir():
        shutil.copy(script, files)


def _run(line: str, directory: Path, environment: dict[str, str]) -> None:
    """One run, whose answer may be no but which has to end by itself."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{line}: does not end") from error
    if not 0 <= done.returncode < 126:
        said = done.stderr.decode(errors="replace").strip()
        raise BenchError(f"{line}: ended with {done.returncode}: {said}")


def asked(doc: str | None, results: Path, argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of what is measured on these programs: which, how built, and where results go."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--as-built", action="store_true", help="use builds and runs as they are")
    parser.add_argument("--level", default=LEVEL, help=f"how far they are optimised (default {LEVEL})")
    parser.add_argument("--json", type=Path, default=results, metavar="OUT")
    return parser.parse_args(argv)


def main() -> None:
    """Make what is missing and list it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--as-built", action="store_true", help="use builds and runs as they are")
    parser.add_argument("--level", default=LEVEL, help=f"how far they are optimised (default {LEVEL})")
    asked = parser.parse_args()
    try:
        for subject in subjects(asked.names, asked.jobs, asked.as_built, asked.level):
            print(f"{subject.name} ({subject.package}): {subject.executable} {subject.measured}")
    except BenchError as error:
        sys.exit(f"bench: {error}")


if __name__ == "__main__":
    main()
