"""What is known of library functions by name."""

from __future__ import annotations

from trodden.weigh.features.block_features import CallFeatures

COMPLAINERS = frozenset(
    (
        *("perror", "psignal", "herror", "strerror", "strerror_r", "__xpg_strerror_r"),
        *("err", "errx", "verr", "verrx", "warn", "warnx", "vwarn", "vwarnx", "error", "error_at_line"),
        *("__assert_fail", "__assert_rtn", "__stack_chk_fail", "__fortify_fail", "__chk_fail"),
        *("__cxa_throw", "__cxa_rethrow", "__cxa_allocate_exception"),
    )
)
"""A call of one of them means that an error has occurred."""

COMPARERS = frozenset(
    (
        *("strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcoll", "memcmp", "bcmp"),
        *("wcscmp", "wcsncmp", "wmemcmp"),
    )
)
"""What they compare is mostly not equal."""

ALLOCATORS = frozenset(
    ("malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "fopen", "fdopen", "opendir")
)
"""They return a null pointer on failure, which is rare."""

OPTION_READERS = frozenset(
    (
        *("getopt", "getopt_long", "getopt_long_only", "rpl_getopt", "rpl_getopt_long"),
        *("rpl_getopt_long_only", "__posix_getopt", "getsubopt", "poptGetNextOpt"),
    )
)
"""A loop around a call of one of them iterates once per option of the command line, which are mostly few."""


def reports_error(call: CallFeatures) -> bool:
    """Whether a call reports an error; functions of the program itself may happen to have such a name."""
    return call.reports_error or (call.callee in COMPLAINERS and not call.sites)


def reads_options(call: CallFeatures) -> bool:
    """Whether a call reads the next option of the command line."""
    return call.callee in OPTION_READERS
