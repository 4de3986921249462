"""Programs whose source marks the parts of conditions, ``P(x < 0)``, to compare reports with.

Without the marks they are what is profiled.  With each mark replaced by a counter they print, for each
part, its line, its text, and how often it was true and false.
"""

from __future__ import annotations

import re

_MARK = re.compile(r"(?<!\w)P\(")
_CONTINUED = re.compile(r"\s*(?:&&|\|\|)")
_COUNTERS = """\
static unsigned long held[1000][2]; static int part(int n, int v) { held[n][!!v]++; return v; }"""


def plain(source: str) -> str:
    """The source without marks; brackets stay where operators would bind otherwise."""
    while (match := _MARK.search(source)) is not None:
        close = _close(source, match.end())
        inner, before, after = source[match.end() : close], source[: match.start()], source[close + 1 :]
        beside = (before.rstrip()[-2:], after.lstrip()[:2])
        bound = "&&" in beside and "||" in _outer(inner)
        negated = before.endswith("!") and any(sign in _outer(inner) for sign in ("&&", "||"))
        source = f"{before}({inner}){after}" if bound or negated else f"{before}{inner}{after}"
    return source


def _outer(text: str) -> str:
    """What is outside of brackets."""
    depth = 0
    found = ""
    for sign in text:
        depth -= sign == ")"
        found += sign if not depth else ""
        depth += sign == "("
    return found


def with_counters(source: str) -> str:
    """The source with a counter for each mark, on the same lines; ``main`` prints them at its end."""
    lines = source.split("\n")
    parts: list[tuple[int, str]] = []
    while (match := _MARK.search(source)) is not None:
        close = _close(source, match.end())
        line = source.count("\n", 0, match.start()) + 1
        while _CONTINUED.match(lines[line - 1]):
            line -= 1
        inner = source[match.end() : close]
        declared = re.match(r"int (\w+) = (.*)", inner)
        value = f"(({inner}) ? 1 : 0)" if declared is None else f"({declared.group(2)})"
        before = "" if declared is None else f"int {declared.group(1)} = "
        parts.append((line, " ".join(plain(inner).split())))
        counted = f"{before}part({len(parts) - 1}, {value})"
        source = source[: match.start()] + counted + source[close + 1 :]
    prints = "".join(
        f'printf("{line}\\t{text.replace("%", "%%")}\\t%lu\\t%lu\\n", held[{number}][1], held[{number}][0]); '
        for number, (line, text) in enumerate(parts)
    )
    head, _, rest = source.partition("\nvolatile int sink;")
    main, end, _ = rest.rpartition("    return 0;")
    return f"{head}\nvolatile int sink; {_COUNTERS}{main}    {prints}{end.strip()}\n}}\n"


def _close(source: str, begin: int) -> int:
    """The bracket that closes what was opened before ``begin``."""
    depth = 1
    for at in range(begin, len(source)):
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        if not depth:
            return at
    raise AssertionError(source[begin : begin + 40])
