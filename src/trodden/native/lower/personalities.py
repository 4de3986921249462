"""Personalities: how a function's frames are noticed when something unwinds the stack (BL94 §3.2, BL96 §3.6).

An exception, ``pthread_exit`` or a cancelled thread leaves functions at calls that do not come back.  Whoever
unwinds asks the personality of each frame what is to be done with it.  So every function with probes gets
one: the runtime's, where it has none, or a small function that asks its own and then tells the runtime what
that has answered.  It costs an entry in the unwinding tables, and no instruction.
"""

from __future__ import annotations

import re

from trodden.native.ir.attributes import Attributes
from trodden.native.ir.grammar import NAME
from trodden.native.ir.names import unquote

_OWN = re.compile(rf" personality ptr @({NAME})")
_NONE = "__trodden_personality"
_AROUND = "__trodden_around."
_ANSWERED = "@__trodden_answered"
_PARAMETERS = "i32 %version, i32 %actions, i64 %class, ptr %exception, ptr %context"


class Personalities:
    """The personalities that the functions of one module have been given."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self._given: set[str] = set()

    def give(self, header: str) -> str:
        """A function's first line with a personality that tells the runtime.

        A frame without unwinding tables stops every exception, and shall go on to do so.
        """
        attributes = self._attributes.of_header(header)
        own = _OWN.search(header)
        if own is not None:
            name = unquote(own.group(1))
            self._given.add(name)
            return f"{header[: own.start()]} personality ptr {_around(name)}{header[own.end() :]}"
        if "nounwind" in attributes and not attributes & {"uwtable", "uwtable(sync)"}:
            return header
        self._given.add(_NONE)
        debug = header.find(" !dbg ")
        at = debug if debug >= 0 else header.rindex(" {")
        return f"{header[:at]} personality ptr @{_NONE}{header[at:]}"

    def declarations(self, signatures: str) -> list[str]:
        """What the module has to say of them, beside the ``signatures`` that it has."""
        lines: list[str] = []
        for name in sorted(self._given - {_NONE}):
            lines += [
                f"${_around(name)[1:]} = comdat any",
                f"define linkonce_odr hidden i32 {_around(name)}({_PARAMETERS}) nounwind uwtable comdat {{",
                f'  %answer = call i32 @"{name}"({_PARAMETERS})',
                "  %caller = call ptr @llvm.returnaddress(i32 0)",
                f"  %same = call i32 {_ANSWERED}(i32 %answer, i32 %actions, ptr %context, ptr %caller)",
                "  ret i32 %same",
                "}",
            ]
        if lines:
            lines.append(f"declare hidden i32 {_ANSWERED}(i32, i32, ptr, ptr) nounwind")
            if "@llvm.returnaddress(" not in signatures:
                lines.append("declare ptr @llvm.returnaddress(i32 immarg)")
        if _NONE in self._given:
            lines.append(f"declare hidden i32 @{_NONE}(i32, i32, i64, ptr, ptr)")
        return lines


def _around(name: str) -> str:
    return f'@"{_AROUND}{name}"'
