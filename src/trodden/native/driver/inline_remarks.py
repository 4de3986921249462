"""Which calls the optimiser has inlined, from its remarks.

Code that was inlined is known by its debug locations, as long as some of it is left.  Of a call whose result
the optimiser has computed nothing is left but the remark that it was inlined.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

_OWN = "-fsave-optimization-record"
_INLINED = re.compile(r"--- !Passed\n.*?\n  - Callee: +(\S+)\n.*?\n  - Caller: +(\S+)\n", re.DOTALL)
_MOST = 1 << 20
"""Recursion may inline a function into itself; no more instances than this are told apart."""

InlinedCalls = Mapping[str, Mapping[str, int]]
"""For each function, by its symbol, how often each other function was inlined into it."""


def remark_flags(flags: Sequence[str], target: Path) -> list[str]:
    """Flags that write remarks about inlining to a file; none if the user has other ideas about remarks."""
    if any(flag.startswith((_OWN, "-foptimization-record")) for flag in flags):
        return []
    return [f"{_OWN}=yaml", f"-foptimization-record-file={target}", "-foptimization-record-passes=inline"]


def inlined_calls(target: Path) -> InlinedCalls:
    """What remarks say, those inlined through others included; nothing if there are none."""
    try:
        text = target.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return {}
    direct: dict[str, Counter[str]] = {}
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
