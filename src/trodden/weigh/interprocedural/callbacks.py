"""Which library functions call back functions that are passed to them, and how often (WL94 §8).

The paper knows that ``qsort`` calls its last argument.  This table has the functions of the C library, POSIX
and similar libraries.  The numbers are the expected calls of the callback per call of the library function;
where they depend on the amount of data, they are for 16 to 64 elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Callback(NamedTuple):
    """The position of an argument (0 is the first), and how often it is called per call."""

    position: int
    times: float


UNKNOWN_TIMES = 1.0
"""How often a library function that is not listed calls a function that is passed to it."""

_SORTS = 64.0
"""About n log n for the dozen and a half elements of a small sort."""
_SEARCHES = 6.0
"""log n for 64 elements, sorted or in a tree."""
_VISITS = 64.0
"""One call for each of 64 files or nodes."""
_SCANS = 8.0
"""Half of 16 elements, until the one that is searched for."""
_SELDOM = 0.01
"""Handlers that are installed and mostly never needed."""

CALLBACKS: Mapping[str, tuple[Callback, ...]] = {
    "qsort": (Callback(3, _SORTS),),
    "qsort_r": (Callback(3, _SORTS),),
    "qsort_s": (Callback(3, _SORTS),),
    "heapsort": (Callback(3, _SORTS),),
    "mergesort": (Callback(3, _SORTS),),
    "bsearch": (Callback(4, _SEARCHES),),
    "bsearch_s": (Callback(4, _SEARCHES),),
    "lfind": (Callback(4, _SCANS),),
    "lsearch": (Callback(4, _SCANS),),
    "tsearch": (Callback(2, _SEARCHES),),
    "tfind": (Callback(2, _SEARCHES),),
    "tdelete": (Callback(2, _SEARCHES),),
    "twalk": (Callback(1, _VISITS),),
    "twalk_r": (Callback(1, _VISITS),),
    "tdestroy": (Callback(1, _VISITS),),
    "ftw": (Callback(1, _VISITS),),
    "ftw64": (Callback(1, _VISITS),),
    "nftw": (Callback(1, _VISITS),),
    "nftw64": (Callback(1, _VISITS),),
    "fts_open": (Callback(2, _SORTS),),
    "scandir": (Callback(2, _VISITS), Callback(3, _SORTS)),
    "scandir64": (Callback(2, _VISITS), Callback(3, _SORTS)),
    "scandirat": (Callback(3, _VISITS), Callback(4, _SORTS)),
    "glob": (Callback(2, _SELDOM),),
    "dl_iterate_phdr": (Callback(0, _SCANS),),
    "pthread_create": (Callback(2, 1.0),),
    "pthread_once": (Callback(1, 1.0),),
    "pthread_key_create": (Callback(1, 1.0),),
    "pthread_atfork": (Callback(0, _SELDOM), Callback(1, _SELDOM), Callback(2, _SELDOM)),
    "thrd_create": (Callback(1, 1.0),),
    "call_once": (Callback(1, 1.0),),
    "tss_create": (Callback(1, 1.0),),
    "clone": (Callback(0, 1.0),),
    "makecontext": (Callback(1, 1.0),),
    "_beginthreadex": (Callback(2, 1.0),),
    "CreateThread": (Callback(2, 1.0),),
    "atexit": (Callback(0, 1.0),),
    "on_exit": (Callback(0, 1.0),),
    "__cxa_atexit": (Callback(0, 1.0),),
    "__cxa_thread_atexit": (Callback(0, 1.0),),
    "at_quick_exit": (Callback(0, _SELDOM),),
    "signal": (Callback(1, _SELDOM),),
    "bsd_signal": (Callback(1, _SELDOM),),
    "sysv_signal": (Callback(1, _SELDOM),),
    "sigset": (Callback(1, _SELDOM),),
}


def called_back(library_function: str, position: int) -> float:
    """How often one call of a library function calls the function at a position among its arguments."""
    known = CALLBACKS.get(library_function)
    if known is None:
        return UNKNOWN_TIMES
    return sum(callback.times for callback in known if callback.position == position)
