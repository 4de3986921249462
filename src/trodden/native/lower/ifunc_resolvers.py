"""Calls of the runtime in ifunc resolvers, so that functions that these call can count.

The dynamic linker calls resolvers before the program is relocated.  Until a resolver has called the runtime,
no counter has an address (``runtime/counters/early_counts.c``).  A resolver itself has no probes.
"""

from __future__ import annotations

import re

STARTS, ENDS = "@__trodden_resolver_starts", "@__trodden_resolver_ends"
_LABEL = re.compile(r"^[^\s;][^\n]*:")
_RETURN = re.compile(r"^  ret\b")
_TAIL_CALL = re.compile(r"^  (?:%\S+ = )?musttail\b")


def with_runtime_calls(definition: str) -> str:
    """The definition of a resolver that calls the runtime first and last."""
    header, *body = definition.split("\n")
    first = 1 if _LABEL.match(body[0]) else 0
    lines = [header, *body[:first], f"  call void {STARTS}()"]
    for line in body[first:]:
        if _RETURN.match(line):
            # What comes between such a call and the return would not be valid.
            at = len(lines) - 1 if _TAIL_CALL.match(lines[-1]) else len(lines)
            lines.insert(at, f"  call void {ENDS}()")
        lines.append(line)
    return "\n".join(lines)


def declarations() -> list[str]:
    """The functions that a module with resolvers calls."""
    return [f"declare hidden void {name}() nounwind" for name in (STARTS, ENDS)]


def offset_loader(name: str, variable: str) -> list[str]:
    """Code from which the runtime reads where a thread-local variable is, on x86-64.

    It is not executed: ``runtime/counters/early_counts.c`` looks at its instruction.
    """
    lines = [
        f".pushsection .text\\0A.weak {name}\\0A.hidden {name}\\0A.type {name},@function",
        f"{name}:\\0Amovq {variable[1:]}@gottpoff(%rip), %rax\\0Aretq",
        f".size {name}, .-{name}\\0A.popsection",
    ]
    return [f'module asm "{line}"' for line in lines]
