"""Which calls the optimiser has inlined, from its remarks.

Code that was inlined is known by its debug locations, as long as some of it is left.  Of a call whose result
the optimiser has computed nothing is left but the remark that it was inlined.

Some versions of clang crash where they are to write remarks about code with computed gotos, but not where
they show only those about inlining as messages.  Then the source is compiled once without remarks, for its
code and its messages, and once for the remarks.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from trodden.native.driver.diagnostics import call, listen, say

_OWN = "-fsave-optimization-record"
_INLINED = re.compile(r"--- !Passed\n.*?\n  - Callee: +(\S+)\n.*?\n  - Caller: +(\S+)\n", re.DOTALL)
_SHOWN = re.compile(r"remark: '([^'\s]+)' inlined into '([^'\s]+)'")
_AS_MESSAGES = ("-Rpass=inline", "-w", "-fno-color-diagnostics", "-fno-crash-diagnostics")
_CRASHED = re.compile(
    r"^\S*: .*error:.* frontend command failed (?:with exit code|due to signal)", re.MULTILINE
)
_CRASHES = frozenset(
    128 + each
    for each in (
        *(signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS),
        *(signal.SIGILL, signal.SIGFPE, signal.SIGTRAP),
    )
)
_MOST = 1 << 20
"""Recursion may inline a function into itself; no more instances than this are told apart."""

InlinedCalls = Mapping[str, Mapping[str, int]]
"""For each function, by its symbol, how often each other function was inlined into it."""


def remark_flags(flags: Sequence[str], target: Path) -> list[str]:
    """Flags that write remarks about inlining to a file; none if the user has other ideas about remarks."""
    if any(flag.startswith((_OWN, "-foptimization-record")) for flag in flags):
        return []
    return [f"{_OWN}=yaml", f"-foptimization-record-file={target}", "-foptimization-record-passes=inline"]


def call_with_remarks(
    command: Sequence[str],
    remarks: Sequence[str],
    target: Path,
    environment: Mapping[str, str],
    given: bytes | None = None,
) -> int:
    """Compile with flags that write remarks to ``target``, or without them if the compiler crashes of that.

    ``given`` is what it reads in place of our standard input.  What it says of a crash is not shown; if it
    crashes without remarks too, that is.
    """
    words = [*command, *remarks, "-fno-crash-diagnostics", *_as_at_a_terminal(command)]
    status, text = listen(words, environment, given)
    if not _has_crashed(status, text):
        say(text)
        return status
    target.unlink(missing_ok=True)
    status = call(command, environment, given)
    if status == 0:
        shown, text = listen([*command, *_AS_MESSAGES], environment, given)
        if shown != 0:
            # What it has written is gone.
            return call([*command, "-w"], environment, given)
        target.write_text(text, encoding="utf-8", errors="surrogateescape")
    return status


def _has_crashed(status: int, text: str) -> bool:
    return status in _CRASHES or (status != 0 and _CRASHED.search(text) is not None)


def _as_at_a_terminal(command: Sequence[str]) -> list[str]:
    """Flags for the messages of a compiler that cannot see itself that it writes to a terminal."""
    if not sys.stderr.isatty():
        return []
    found = []
    chosen = any("color-diagnostics" in word or word.startswith("-fdiagnostics-color") for word in command)
    if not chosen and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR"):
        found.append("-fcolor-diagnostics")
    if not any(word.startswith("-fmessage-length") for word in command):
        found.append(f"-fmessage-length={shutil.get_terminal_size().columns}")
    return found


def inlined_calls(target: Path) -> InlinedCalls:
    """What remarks say, those inlined through others included; nothing if there are none."""
    try:
        text = target.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return {}
    direct: dict[str, Counter[str]] = {}
    for callee, caller in _SHOWN.findall(text):
        direct.setdefault(caller, Counter())[callee] += 1
    for document in text.split("\n...\n"):
        match = _INLINED.search(f"{document}\n")
        if match is not None:
            callee, caller = (name.strip("'\"") for name in match.groups())
            direct.setdefault(caller, Counter())[callee] += 1
    return {caller: _through_others(caller, direct) for caller in direct}


def _through_others(caller: str, direct: Mapping[str, Counter[str]]) -> Counter[str]:
    """How often each function is part of a caller, through whatever was inlined into it.

    Each function that was inlined is followed once; what is inlined into it counts once for each instance of
    it that is known by then, so that the result may be too high, and too low only where it is not zero.
    """
    found = Counter(direct[caller])
    followed = {caller}
    waiting = list(direct[caller])
    while waiting:
        symbol = waiting.pop()
        if symbol in followed:
            continue
        followed.add(symbol)
        for callee, times in direct.get(symbol, {}).items():
            found[callee] = min(found[callee] + times * found[symbol], _MOST)
            waiting.append(callee)
    return found
