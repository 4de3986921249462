"""Programs with threads: lbzip2, whose output does not depend on the schedule, and one of our own.

The threads of ours, *threads*, share one hot function, and the program counts by itself what they do: eight
threads and a hundred million calls; half of the threads end by ``pthread_exit`` or by cancellation.  It is
not part of the suite, since no real program does so little between two counters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from bench.suite.inputs import texts
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.sources import Package, PackageCommand, SourceFiles

_LBZIP2 = Package(
    name="lbzip2",
    version="2.5",
    archive=Archive(
        "apt",
        "lbzip2",
        "lbzip2_2.5.orig.tar.bz2",
        "eec4ff08376090494fa3710649b73e5412c3687b4b9b758c93f73aa7be27555b",
    ),
    directory="lbzip2-2.5",
    commands=("src/lbzip2",),
    options=(
        *("--disable-dependency-tracking", "--quiet"),
        # It uses two names that newer headers of the C library do not have.  It calls _exit, at which clang
        # and gcc would not write a profile.
        "CPPFLAGS=-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100 -D_exit=exit",
    ),
)
# With small blocks there is work for four threads.
_ARGUMENTS = ("-n", "4", "-1", "-k", "-c", "@plain")


def _sources(directory: Path) -> None:
    (directory / "plain").write_text(texts.code(Random(211), 150_000))


def _archive(times: int) -> Callable[[Path], None]:
    """So many times prose, a table and a log, concatenated as in an archive."""

    def write(directory: Path) -> None:
        random = Random(212)
        with (directory / "plain").open("w") as stream:
            for _ in range(times):
                parts = [texts.prose(random, 350_000), *texts.table(random, 3_000), *texts.log(random, 2_500)]
                stream.write("\n".join(parts))

    return write


LBZIP2 = SuiteProgram(
    name="lbzip2",
    about="compresses a file by sorting its blocks, four threads at a time",
    source=PackageCommand(_LBZIP2, "lbzip2"),
    train=Case(_ARGUMENTS, _sources, "606138daf90cd545983e5b4340266db06562973688a77ed6dff893e5b15ac860"),
    ref=Case(_ARGUMENTS, _archive(1), "c2c822a58580efa14c9f1bc4f4616ed6f6fb985ba234c1ffd51aa49d5d7bb642"),
    long=Case(_ARGUMENTS, _archive(11), "10ebda7934ce3d2da729ed5dd37b949800a065893ff39ad0a916c76c66a8413d"),
    threads=True,
)

_ENDS = ("return", "exit", "return", "cancel") * 2
_PLAN = "plan"


def _plan(calls: int) -> Callable[[Path], None]:
    """Writes a plan: so many calls of the hot function, shared by all threads, which run concurrently."""

    def write(directory: Path) -> None:
        lines = ["together", *(f"{calls // len(_ENDS)} {end}" for end in _ENDS)]
        (directory / _PLAN).write_text("\n".join([*lines, ""]))

    return write


def _case(calls: int, sha256: str) -> Case:
    return Case((f"@{_PLAN}",), _plan(calls), sha256)


_REF = _case(10**8, "ea01f4f56b96213864bf1acdf8543254eb3570f2d6119f74050ea2d6b3e59a89")

THREADS = SuiteProgram(
    name="threads",
    about="eight threads that share one hot function",
    source=SourceFiles(name="threads", version="ours", own=("threads.c",), libraries=("-pthread",)),
    train=_case(10**7, "06d9cc300deea2b0fcc980f5b52a6b1ac5e846bc43f52279a29b219596c92765"),
    ref=_REF,
    # It takes half a second as it is.
    long=_REF,
    threads=True,
)

SAME_WORK: Mapping[str, re.Pattern[str]] = {
    "lbzip2": re.compile(
        "^(divbwt|encode|crctab):|^:(collect|divbwt|encode|encoder_init|generate_prefix_code|transmit)$"
    ),
}
"""By program: the functions, as :mod:`bench.oracles.counters` names them, whose work does not depend on the
schedule of the threads.

Of lbzip2 these are the functions that compress a block.  How often threads ask each other for work depends on
the schedule.
"""
