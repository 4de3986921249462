"""Instrumentation by the compiler itself beside ours: sanitizers, coverage, profile-guided optimisation.

The compiler inserts its probes while it optimises, and ours go in afterwards, so that both count.  What the
compiler's probes need is a runtime, of which the embedded toolchain has those of UndefinedBehaviorSanitizer
and ThreadSanitizer.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from trodden.errors import UsageError
from trodden.native.driver.command_line import CommandLine, Source, Step

_NO_RUNTIME = frozenset(
    {
        *("address", "hwaddress", "leak", "memory", "dataflow", "type", "realtime", "numerical"),
        *("fuzzer", "fuzzer-no-link", "safe-stack", "scudo", "memtag", "memtag-stack", "memtag-heap"),
    }
)
_NEEDS_NOTHING = frozenset(
    {"kcfi", "shadow-call-stack", "kernel-address", "kernel-hwaddress", "kernel-memory"}
)
_NO_HANDLER = ("function", "vptr")
"""Checks for which the embedded runtime of UndefinedBehaviorSanitizer has no handler."""
_THREAD = "thread"
_SANITIZE, _NO_SANITIZE, _TRAP = "-fsanitize=", "-fno-sanitize=", "-fsanitize-trap"
_TRAP_ON_ERROR = "-fsanitize-undefined-trap-on-error"
_GCOV = frozenset({"--coverage", "-coverage", "-fprofile-arcs", "-ftest-coverage"})
_COUNTING = ("-fprofile-generate", "-fprofile-instr-generate", "-fcs-profile-generate", "-fcoverage-mapping")


def sanitizers(flags: Sequence[str]) -> set[str]:
    """The sanitizers that remain switched on, by their names as flags have them."""
    found: set[str] = set()
    for flag in flags:
        if flag.startswith(_SANITIZE):
            found.update(flag[len(_SANITIZE) :].split(","))
        elif flag.startswith(_NO_SANITIZE):
            off = flag[len(_NO_SANITIZE) :].split(",")
            found = set() if "all" in off else found.difference(off)
    return found


def runtimes(flags: Sequence[str]) -> list[str]:
    """The flags by which the embedded toolchain links the runtimes that these ``flags`` need."""
    found = sanitizers(flags)
    words = [f"{_SANITIZE}{_THREAD}"] if _THREAD in found else []
    if _has_handlers(flags) and found - _NO_RUNTIME - _NEEDS_NOTHING - {_THREAD}:
        words.append(f"{_SANITIZE}undefined")
    return words


def _has_handlers(flags: Sequence[str]) -> bool:
    """Whether a failed check calls a handler; otherwise it is a trap, which needs no runtime."""
    return not any(flag == _TRAP_ON_ERROR or flag.startswith(_TRAP) for flag in flags)


def check_instrumentation(flags: Sequence[str], embedded: bool, early: bool) -> None:
    """Refuse what cannot work, by name."""
    counting = [flag for flag in flags if flag in _GCOV or flag.startswith(_COUNTING)]
    if counting and early:
        why = "the compiler would count our probes at the early stage; leave it out, or use the late stage"
        raise UsageError(f"{counting[0]}: {why}")
    if not embedded:
        return
    found = sorted(sanitizers(flags) & _NO_RUNTIME)
    wanted = [f"{_SANITIZE}{name}" for name in found] or counting
    if wanted:
        why = "the embedded toolchain has no runtime for it; --trodden-toolchain=clang uses that of a clang"
        raise UsageError(f"{wanted[0]}: {why}")
    missing = sorted(sanitizers(flags).intersection(_NO_HANDLER))
    if missing and _has_handlers(flags):
        why = f"the embedded toolchain has no handler for it; add {_TRAP}={missing[0]}, or use a clang"
        raise UsageError(f"{_SANITIZE}{missing[0]}: {why} (--trodden-toolchain=clang)")


def embedded_flags(flags: Sequence[str]) -> list[str]:
    """What the embedded compiler has to be told: to leave out the checks that have no handler."""
    if not _has_handlers(flags) or sanitizers(flags).isdisjoint({"undefined", "all"}):
        return []
    return [_NO_SANITIZE + ",".join(_NO_HANDLER)]


def coverage_flags(line: CommandLine, source: Source) -> list[str]:
    """The names of gcov's files: the compiler would derive them from its output, an intermediate file."""
    if _GCOV.isdisjoint(line.compile_flags):
        return []
    stem = os.path.splitext(os.path.basename(source.path))[0]
    named = stem if line.output is None else os.path.splitext(line.output)[0]
    if line.step is Step.LINK and line.output is not None:
        named = f"{line.output}-{stem}"
    path = os.path.abspath(named)
    words = [f"-coverage-notes-file={path}.gcno", f"-coverage-data-file={path}.gcda"]
    return [piece for word in words for piece in ("-Xclang", word)]
