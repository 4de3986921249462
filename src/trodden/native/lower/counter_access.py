"""Counters that are found by a table of the thread's.

Code that may end up in a shared library cannot know where its counters lie: the library may come when threads
already run, and go before they end.  The runtime keeps a table for every thread, with one entry a unit
(runtime/counters.c); a function looks its counters up when it is entered.
"""

from __future__ import annotations

import re

from trodden.native.ir.grammar import NAME
from trodden.native.lower.emit_paths import COUNTERS, UNIT

TABLE = "@__trodden_table"
COMMON = "@trodden_common"
_INDEX = 40
_HERE = "%trodden.counts"
_PLACE = re.compile(rf"getelementptr \(i8, ptr {COUNTERS}, i64 (-?\d+)\)|{COUNTERS}\b")
_PHI = re.compile(rf"  %{NAME} = phi ")
_FIRST_LABEL = re.compile(rf"^{NAME}:", re.ASCII)


def by_table(text: str) -> str:
    """The same function with its counters found by the table."""
    if COUNTERS not in text:
        return text
    head, _, body = text.partition("{\n")
    lines: list[str] = []
    found = list(_LOOK_UP)
    for number, line in enumerate(body.split("\n")):
        if COUNTERS in line:
            # Nothing may stand between phis; what they choose from is known at the entry.
            line = _by_address(line, number, found if _PHI.match(line) else lines)
        lines.append(line)
    at = next(n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(";"))
    if _FIRST_LABEL.match(lines[at]):
        at += 1
    return head + "{\n" + "\n".join([*lines[:at], *found, *lines[at:]])


_LOOK_UP = (
    f"  %trodden.table = load ptr, ptr {TABLE}, align 8",
    f"  %trodden.index = load i64, ptr getelementptr (i8, ptr {UNIT}, i64 {_INDEX}), align 8",
    "  %trodden.entry = getelementptr ptr, ptr %trodden.table, i64 %trodden.index",
    f"  {_HERE} = load ptr, ptr %trodden.entry, align 8",
)


def _by_address(line: str, number: int, before: list[str]) -> str:
    """A line whose counters are reached from where the function has found them."""
    uses = 0

    def address(match: re.Match[str]) -> str:
        nonlocal uses
        name = f"%trodden.at.{number}.{uses}"
        uses += 1
        before.append(f"  {name} = getelementptr i8, ptr {_HERE}, i64 {match.group(1) or 0}")
        return name

    return _PLACE.sub(address, line)


def declare_table() -> list[str]:
    """The variable that holds the table: one for the whole process."""
    return [
        f"{TABLE} = weak thread_local(initialexec) global ptr {COMMON}, align 8",
        f"{COMMON} = external hidden global i8",
    ]
