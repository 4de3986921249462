"""What is known of library functions by name: which report errors, and which read options."""

from __future__ import annotations

COMPLAINERS = frozenset(
    (
        *("perror", "psignal", "herror", "strerror", "strerror_r", "__xpg_strerror_r"),
        *("err", "errx", "verr", "verrx", "warn", "warnx", "vwarn", "vwarnx", "error", "error_at_line"),
        *("__assert_fail", "__assert_rtn", "__stack_chk_fail", "__fortify_fail", "__chk_fail"),
        *("__cxa_throw", "__cxa_rethrow", "__cxa_allocate_exception"),
    )
)
"""A call of one of them says that control has left its usual way."""

OPTION_READERS = frozenset(
    (
        *("getopt", "getopt_long", "getopt_long_only", "rpl_getopt", "rpl_getopt_long"),
        *("rpl_getopt_long_only", "__posix_getopt", "getsubopt", "poptGetNextOpt"),
    )
)
"""A loop around a call of one of them turns as often as there are options, which are mostly few."""
