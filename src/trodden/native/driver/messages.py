"""Messages of the compilers' own, beside those of the compiler underneath."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def report_ignored(ignored: Sequence[tuple[str, str]]) -> None:
    """Name the flags that are left out, each with the reason; flags with the same reason share a line."""
    for reason in dict.fromkeys(reason for _, reason in ignored):
        flags = " ".join(flag for flag, why in ignored if why == reason)
        sys.stderr.write(f"trodden: {flags}: ignored; {reason}\n")
