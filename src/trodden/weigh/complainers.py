"""Which library functions report what has gone wrong, as data."""

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
