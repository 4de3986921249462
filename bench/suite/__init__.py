"""The programs that everything is measured on: real ones, fetched when they are needed, and one of ours.

Each has two inputs, *train* and *ref*, which differ in kind and not only in size, and a third, *long*, which
is more of what *ref* is and on which times are taken.  All that it puts out is checked.  What would make two
builds of one source behave differently (a hash seeded with the time and addresses) is switched off by a
definition, so that counts can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.suite.compressors import COMPRESSORS
from bench.suite.documents import DOCUMENTS
from bench.suite.generators import GENERATORS
from bench.suite.jpeg import CJPEG
from bench.suite.languages import LANGUAGES
from bench.suite.lempel import COMPRESS
from bench.suite.logic import ESPRESSO
from bench.suite.model import SuiteProgram
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


def chosen(names: Sequence[str]) -> list[SuiteProgram]:
    """The programs of these names, all if there is none, in the order of the suite."""
    known = {program.name for program in SUITE}
    for name in names:
        if name not in known:
            raise BenchError(f"no program {name}; there are {', '.join(each.name for each in SUITE)}")
    return [program for program in SUITE if not names or program.name in names]
