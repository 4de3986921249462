"""cjpeg, of libjpeg-turbo: compresses a picture, without its assembly code."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.suite.inputs import pictures
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.sources import SourceFiles

_LIBRARY = (
    *(
        "jcapimin.c",
        "jcapistd.c",
        "jcarith.c",
        "jccoefct.c",
        "jccolor.c",
        "jcdctmgr.c",
        "jchuff.c",
        "jcicc.c",
    ),
    *("jcinit.c", "jcmainct.c", "jcmarker.c", "jcmaster.c", "jcomapi.c", "jcparam.c", "jcphuff.c"),
    *("jcprepct.c", "jcsample.c", "jctrans.c", "jdatadst.c", "jfdctflt.c", "jfdctfst.c", "jfdctint.c"),
    *("jaricom.c", "jerror.c", "jmemmgr.c", "jmemnobs.c", "jutils.c", "jsimd_none.c"),
)
_CJPEG = SourceFiles(
    name="cjpeg",
    version="2.1.5",
    archive=Archive(
        "apt",
        "libjpeg-turbo",
        "libjpeg-turbo_2.1.5.orig.tar.gz",
        "254f3642b04e309fee775123133c6464181addc150499561020312ec61c1bf7c",
    ),
    directory="libjpeg-turbo-2.1.5",
    sources=(*_LIBRARY, "cjpeg.c", "cdjpeg.c", "rdppm.c", "rdswitch.c"),
    headers=("jpeg/jconfig.h", "jpeg/jconfigint.h", "jpeg/jversion.h"),
    flags=("-DPPM_SUPPORTED", "-I@own/jpeg", "-I@sources"),
)


def _drawing(directory: Path) -> None:
    (directory / "picture.ppm").write_bytes(pictures.drawing(Random(221), 320, 240))


def _landscape(directory: Path) -> None:
    (directory / "picture.ppm").write_bytes(pictures.landscape(Random(222), 960, 720))


def _large_landscape(directory: Path) -> None:
    (directory / "picture.ppm").write_bytes(pictures.landscape(Random(222), 4_000, 3_000))


CJPEG = SuiteProgram(
    name="cjpeg",
    about="compresses a picture progressively",
    source=_CJPEG,
    train=Case(
        ("-quality", "60", "-progressive", "@picture.ppm"),
        _drawing,
        "1f0530fa8dfd75a6910624eb0cca8bdb9d35a1f2c21fcbd16b70968feda4d75b",
    ),
    ref=Case(
        ("-quality", "85", "-progressive", "@picture.ppm"),
        _landscape,
        "e414d70931cca2881680ab257c6346f2f6bbc4bff5b85249164c5ce0b423aa6a",
    ),
    long=Case(
        ("-quality", "85", "-progressive", "@picture.ppm"),
        _large_landscape,
        "d74473409da62699e3beb8bd08a04a279fd1c90b4896b9f5b5b5aed6c6b8b996",
    ),
)
