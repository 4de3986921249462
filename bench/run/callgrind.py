"""Instructions by callgrind: of a whole run, of each function without its callees, of each address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bench.support.errors import BenchError

_FUNCTION = "fn="
_CALL = "calls="
_OBJECT = "ob="
_ADDRESS = "0x"
# Lines with costs begin with a position: a number, or the distance from the previous one.
_POSITION = frozenset("0123456789+-*")
_COLLECTED = re.compile(r"Collected : (\d+)")


def counting(log: Path) -> tuple[str, ...]:
    """What to put before a command to have its instructions counted; an old log is removed."""
    log.unlink(missing_ok=True)
    return ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}")


def instruction_count(log: Path) -> int:
    """The number of instructions that callgrind has counted."""
    found = _COLLECTED.search(log.read_text()) if log.is_file() else None
    if found is None:
        raise BenchError(f"callgrind did not count; see {log}")
    return int(found.group(1))


def counting_by_function(out: Path) -> tuple[str, ...]:
    """What to put before a command to have the instructions of each function written to a file."""
    out.unlink(missing_ok=True)
    names = ("--compress-strings=no", "--compress-pos=no")
    return ("valgrind", "--tool=callgrind", *names, f"--callgrind-out-file={out}", "--quiet")


def counting_by_address(out: Path) -> tuple[str, ...]:
    """What to put before a command to have the executions of each instruction written to a file.

    Calls through the procedure linkage table are not attributed to their callers.
    """
    return (*counting_by_function(out), "--dump-instr=yes", "--skip-plt=no")


def by_address(lines: Iterable[str], executable: str) -> Counter[int]:
    """Executions of the instructions of one program, by address, from such a file."""
    found: Counter[int] = Counter()
    inside = called = False
    for line in lines:
        if line.startswith(_OBJECT):
            inside = line[len(_OBJECT) :].strip().endswith(f"/{executable}")
        elif line.startswith(_CALL):
            called = True
        elif line.startswith(_ADDRESS):
            if inside and not called:
                address, _, count = line.split()
                found[int(address, 16)] += int(count)
            called = False
    return found


def by_function(lines: Iterable[str]) -> Counter[str]:
    """Instructions by the names of functions, from a file whose names are not compressed."""
    found: Counter[str] = Counter()
    name, called = "", False
    for line in lines:
        if line.startswith(_FUNCTION):
            name = line[len(_FUNCTION) :].strip()
        elif line.startswith(_CALL):
            # The next line is the cost of the callee.
            called = True
        elif line[:1] in _POSITION and line.strip():
            if not called:
                found[name] += int(line.split()[1])
            called = False
    return found
