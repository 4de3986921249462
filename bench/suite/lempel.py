"""compress, by Lempel, Ziv and Welch: the successor of the compressor of SPEC92 and SPEC95."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from bench.suite.inputs import texts
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.sources import SourceFiles

_COMPRESS = SourceFiles(
    name="compress",
    version="4.2.4.6",
    archive=Archive(
        "apt",
        "ncompress",
        "ncompress_4.2.4.6.orig.tar.gz",
        "fb7b6a00060bd4c6e35ba4cc96a5ca7e78c193e6267487dd53376d80e061836b",
    ),
    directory="ncompress-4.2.4.6",
    sources=("compress42.c",),
    flags=("-DDIRENT=1", "-DUTIME_H=1", "-DUSERMEM=800000", "-DREGISTERS=3"),
)


def _log(directory: Path) -> None:
    (directory / "plain").write_text("\n".join(texts.log(Random(201), 9_000)))


def _prose(volumes: int) -> Callable[[Path], None]:
    """Volumes of prose, each with two tables in it."""

    def write(directory: Path) -> None:
        random = Random(202)
        with (directory / "plain").open("w") as stream:
            for _ in range(volumes):
                parts = [
                    texts.prose(random, 2_400_000),
                    *texts.table(random, 28_000),
                    texts.prose(random, 1_200_000),
                    *texts.table(random, 16_000),
                ]
                stream.write("\n".join(parts))

    return write


COMPRESS = SuiteProgram(
    name="compress",
    about="compresses a text by a dictionary; its predecessor was in SPEC92 and SPEC95",
    source=_COMPRESS,
    train=Case(("-c", "@plain"), _log, "32c4615c87e328805686e076b7c735db2301452980e522332d7dfe2b83f8384c"),
    ref=Case(("-c", "@plain"), _prose(1), "8bc6e978bb543c4de22e996f210093317e9728217137ab87da6ae2d78a6e104b"),
    long=Case(
        ("-c", "@plain"), _prose(5), "9b548058a9df2a973bc6f01c594e31b22d8eb477935176b378ea103113e99312"
    ),
)
