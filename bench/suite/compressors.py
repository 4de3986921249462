"""Programs that compress: bzip2, gzip, zstd."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from bench.suite.inputs import texts
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.packages import command
from bench.suite.sources import SourceFiles
from bench.suite.workloads import scripted, unix_workload


def _words(directory: Path) -> None:
    """Lines of words out of a vocabulary: compresses about as well as prose."""
    (directory / "input").write_text(texts.word_lines(Random(7), 1_500_000))


def _program(directory: Path) -> None:
    """C code, followed by some bytes of a picture."""
    random = Random(101)
    words = texts.code(random, 130_000).encode()
    (directory / "plain").write_bytes(words + picture(random, 160, 120))


def _papers(documents: int) -> Callable[[Path], None]:
    """So many documents, each of prose, a table, a log and a picture."""

    def write(directory: Path) -> None:
        random = Random(102)
        with (directory / "plain").open("wb") as stream:
            for _ in range(documents):
                parts = [
                    texts.prose(random, 400_000),
                    "\n".join(texts.table(random, 5_000)),
                    "\n".join(texts.log(random, 3_000)),
                ]
                stream.write("\n".join(parts).encode() + picture(random, 240, 200))

    return write


def picture(random: Random, width: int, height: int) -> bytes:
    """A gradient of grey shades, with noise."""
    grain = random.randbytes(width * height)
    shades = ((x * 170 // width + y * 80 // height) for y in range(height) for x in range(width))
    return bytes(shade + (noise >> 5) for shade, noise in zip(shades, grain, strict=True))


_BZIP2 = SourceFiles(
    name="bzip2",
    version="1.0.8",
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
)
_ZSTD = SourceFiles(
    name="zstd",
    version="in zstandard 0.25.0",
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
)

COMPRESSORS = (
    SuiteProgram(
        name="bzip2",
        about="compresses a file by sorting its blocks",
        source=_BZIP2,
        workload=scripted("bzip2", _words),
        train=Case(
            ("-k", "-c", "@plain"),
            _program,
            "417df9c5008fb535e390dfad0929c03db47677a1af2013092cd5936fb8cfae36",
        ),
        ref=Case(
            ("-k", "-c", "@plain"),
            _papers(1),
            "8c436cb42e638031d6fa60d6386b4c5ee517fbc05c1f5c5a28f6398354eeb110",
        ),
        long=Case(
            ("-k", "-c", "@plain"),
            _papers(8),
            "5bf816f279fdaacce26593916cabb58b67e91d3b9ab6f3231b6a39dcdd61f805",
        ),
    ),
    SuiteProgram(
        name="gzip",
        about="compresses a file by references to what came before",
        source=command("gzip"),
        workload=unix_workload("gzip"),
        train=Case(
            ("-n", "-c", "@plain"),
            _program,
            "16a6fe9210024ee631ca9fdc757652ce0b982f3e697184e5b10a441067c64094",
        ),
        ref=Case(
            ("-n", "-c", "@plain"),
            _papers(1),
            "36abc1cbbbb43e21d99cc6a03e87d54f16abc7d481bd27f1328024fb486264da",
        ),
        long=Case(
            ("-n", "-c", "@plain"),
            _papers(8),
            "a1d16b396cfd720eab11a61bd91ff852ed614a9a827ea0719a46fdd03a82dc2e",
        ),
    ),
    SuiteProgram(
        name="zstd",
        about="compresses a file at three levels, and decompresses it",
        source=_ZSTD,
        workload=scripted("zstd", _words),
        train=Case(("@plain",), _program, "f226bcaf88ca73334e99044383cd69fb926b454f7b122990f1f85147aeaa771d"),
        ref=Case(("@plain",), _papers(1), "7964b1efa6b27b44bd8404734b601a6930e474d48f31c2578fd29342f608315c"),
        long=Case(
            ("@plain",), _papers(14), "b77e42e7f482e8a56e9fc842be95c11ed3269ebea4ba3d1297421cd0de8fa10b"
        ),
    ),
)
