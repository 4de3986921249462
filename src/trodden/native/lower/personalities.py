"""Personalities: how the runtime learns that frames of a function are unwound (BL94 §3.2, BL96 §3.6).

An exception, ``pthread_exit`` or a cancelled thread leaves functions at calls that do not return.  The
unwinder calls the personality of each frame to learn what is to be done with it.  So every function with
probes gets one: that of the runtime, where it has none, or a small function that calls its own one and then
tells the runtime the result.  It costs an entry in the unwinding tables, and no instruction.
"""

from __future__ import annotations

from trodden.native.ir.attributes import Attributes
from trodden.native.ir.symbols import names_function
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.ir.syntax.names import unquote

_RUNTIME = "__trodden_personality"
_WRAPPER = "__trodden_around."
_REPORT = "@__trodden_answered"
_PARAMETERS = "i32 %version, i32 %actions, i64 %class, ptr %exception, ptr %context"


class Personalities:
    """The personalities that the functions of one module have been given."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self._given: set[str] = set()

    def give(self, header: str) -> str:
        """The ``define`` line of a function with a personality that tells the runtime.

        A frame without unwinding tables stops every exception, and continues to do so.
        """
        view = FunctionHeader(header)
        if view.personality is not None:
            name = unquote(view.personality)
            self._given.add(name)
            return view.replace_personality(_wrapper(name))
        attributes = self._attributes.of_header(header)
        if "nounwind" in attributes and not attributes & {"uwtable", "uwtable(sync)"}:
            return header
        self._given.add(_RUNTIME)
        return view.replace_personality(f"@{_RUNTIME}")

    def declarations(self, signatures: str) -> list[str]:
        """What the module has to declare for them, beside the ``signatures`` that it has."""
        lines: list[str] = []
        for name in sorted(self._given - {_RUNTIME}):
            lines += [
                f"${_wrapper(name)[1:]} = comdat any",
                f"define linkonce_odr hidden i32 {_wrapper(name)}({_PARAMETERS}) nounwind uwtable comdat {{",
                f'  %answer = call i32 @"{name}"({_PARAMETERS})',
                "  %caller = call ptr @llvm.returnaddress(i32 0)",
                f"  %same = call i32 {_REPORT}(i32 %answer, i32 %actions, ptr %context, ptr %caller)",
                "  ret i32 %same",
                "}",
            ]
        if lines:
            lines.append(f"declare hidden i32 {_REPORT}(i32, i32, ptr, ptr) nounwind")
            if not names_function(signatures, "@llvm.returnaddress"):
                lines.append("declare ptr @llvm.returnaddress(i32 immarg)")
        if _RUNTIME in self._given:
            lines.append(f"declare hidden i32 @{_RUNTIME}(i32, i32, i64, ptr, ptr)")
        return lines


def _wrapper(name: str) -> str:
    return f'@"{_WRAPPER}{name}"'
