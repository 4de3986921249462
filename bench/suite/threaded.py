"""lbzip2: a program whose threads share the work, and which writes the same whoever does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from bench.build.fetching import Archive
from bench.build.packages import Package
from bench.suite.inputs import texts
from bench.suite.model import Case, SuiteProgram
from bench.suite.recipes import Made

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
        # It knows the C library by two names that newer headers have lost.  It ends by _exit, at which clang
        # and gcc would write no profile.
        "CPPFLAGS=-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100 -D_exit=exit",
    ),
)
# Small blocks give four threads something to share.
_ARGUMENTS = ("-n", "4", "-1", "-k", "-c", "@plain")


def _sources(directory: Path) -> None:
    (directory / "plain").write_text(texts.code(Random(211), 150_000))


def _archive(times: int) -> Callable[[Path], None]:
    """Prose, a table and a log, one behind the other as in an archive, so many times."""

    def write(directory: Path) -> None:
        random = Random(212)
        with (directory / "plain").open("w") as stream:
            for _ in range(times):
                parts = [texts.prose(random, 350_000), *texts.table(random, 3_000), *texts.log(random, 2_500)]
                stream.write("\n".join(parts))

    return write


LBZIP2 = SuiteProgram(
    name="lbzip2",
    version=_LBZIP2.version,
    about="compresses a file by sorting its blocks, four threads at a time",
    recipe=Made(_LBZIP2, "lbzip2"),
    train=Case(_ARGUMENTS, _sources, "606138daf90cd545983e5b4340266db06562973688a77ed6dff893e5b15ac860"),
    ref=Case(_ARGUMENTS, _archive(1), "c2c822a58580efa14c9f1bc4f4616ed6f6fb985ba234c1ffd51aa49d5d7bb642"),
    long=Case(_ARGUMENTS, _archive(11), "10ebda7934ce3d2da729ed5dd37b949800a065893ff39ad0a916c76c66a8413d"),
    threads=True,
)
