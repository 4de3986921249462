"""The programs that everything is measured on: real ones, fetched when they are needed, and some of our own.

Each program of the suite has two inputs, *train* and *ref*, which differ in kind and not only in size, and a
third, *long*, which is more of what *ref* is and on which times are measured.  The whole output of every run
is checked.  What would make two builds of one source behave differently (a hash that is seeded with the time
and addresses) is switched off by a definition, so that counts can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.suite.calibration import CALIBRATION
from bench.suite.compressors import COMPRESSORS
from bench.suite.documents import DOCUMENTS
from bench.suite.generators import GENERATORS
from bench.suite.jpeg import CJPEG
from bench.suite.languages import LANGUAGES
from bench.suite.lempel import COMPRESS
from bench.suite.logic import ESPRESSO
from bench.suite.model import Program, SuiteProgram
from bench.suite.redis import REDIS
from bench.suite.threaded import LBZIP2
from bench.suite.unix import UNIX
from bench.support.errors import BenchError

SUITE: tuple[SuiteProgram, ...] = (
    *COMPRESSORS,
    *LANGUAGES,
    ESPRESSO,
    *UNIX,
    COMPRESS,
    CJPEG,
    *GENERATORS,
    *DOCUMENTS,
    LBZIP2,
    REDIS,
)

ESTIMATED: tuple[Program, ...] = tuple(
    program for program in (*SUITE, *CALIBRATION) if program.workload is not None
)
"""The programs that estimates can be compared with: those that have a workload."""


def select(names: Sequence[str]) -> list[SuiteProgram]:
    """The programs of these names, all if none is named, in the order of the suite."""
    known = {program.name for program in SUITE}
    for name in names:
        if name not in known:
            raise BenchError(f"no program {name}; there are {', '.join(each.name for each in SUITE)}")
    return [program for program in SUITE if not names or program.name in names]
