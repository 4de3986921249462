"""Emit the code that records the last paths of each thread (MR98 §1).

For someone who debugs a thread: how did it get where it is?  Every path that ends is entered into a ring of
its thread (``runtime/counters/last_paths.c``), a cyclic list of entries.  That takes three stores and a step
to the next entry; nothing has to be compared or counted.  The iterations of a self loop end no path (BL96
§4.1), so they are not entered.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.lower.builder import Builder
from trodden.native.lower.runtime_symbols import RING

FIND_RING = "@__trodden_find_ring"
_NO_RING = "@trodden_no_ring"
_FUNCTION_OFFSET, _TAG_OFFSET, _PATH_OFFSET = 8, 12, 16
FLAG_SHIFT = 8
"""Where in a unit's flags the runtime finds how many paths are to be kept."""


@dataclass(frozen=True)
class LastPaths:
    """The code for one function, by its number in the unit with that tag."""

    tag: int
    function: int

    def enter(self, builder: Builder, path: str, ended: str | None = None) -> None:
        """Enter the path with that number; if ``ended`` is 0, the entry is left to the next path.

        The entry is complete before the ring proceeds, so the stores keep their order.
        """
        ring = builder.value(f"load ptr, ptr {RING}, align 8")
        entry = builder.value(f"load ptr, ptr {ring}, align 8")
        reserved = builder.reserve()
        for offset, type_, size, value in (
            (_FUNCTION_OFFSET, "i32", 4, str(self.function + 1)),
            (_TAG_OFFSET, "i32", 4, str(self.tag)),
            (_PATH_OFFSET, "i64", 8, path),
        ):
            field = builder.value(f"getelementptr i8, ptr {entry}, i64 {offset}")
            builder.emit(f"store volatile {type_} {value}, ptr {field}, align {size}")
        following = builder.define(reserved, f"load ptr, ptr {entry}, align 8")
        if ended is not None:
            has_ended = builder.value(f"icmp ne i64 {ended}, 0")
            following = builder.value(f"select i1 {has_ended}, ptr {following}, ptr {entry}")
        builder.emit(f"store volatile ptr {following}, ptr {ring}, align 8")


def declare_ring(shared: bool) -> list[str]:
    """The variable that holds a thread's ring, one for the whole process, and what finds it."""
    model = "initialexec" if shared else "localexec"
    return [
        f"{RING} = weak thread_local({model}) global ptr {_NO_RING}, align 8",
        f"{_NO_RING} = external hidden global i8",
        f"define internal ptr {FIND_RING}() nounwind uwtable {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {RING})",
        "  ret ptr %address",
        "}",
        "",
    ]
