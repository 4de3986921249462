"""The code that remembers the last paths of each thread (MR98 §1).

A debugger would like to know how a thread came to where it is.  Every path that ends is entered into a ring
of its thread (runtime/counters/last_paths.c): a chain of entries without an end.  Entering takes three
stores and going on to the next entry; nothing has to be compared or counted.  The turns of a self loop end
no path (BL96 §4.1), so they are not entered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

RING = "@__trodden_ring"
FIND_RING = "@__trodden_find_ring"
NO_RING = "@trodden_no_ring"
_FUNCTION, _TAG, _PATH = 8, 12, 16
FLAG_SHIFT = 8
"""Where the runtime finds in a unit's flags how many paths are to be kept."""


@dataclass(frozen=True)
class RingCode:
    """Makes the code for one function, by its number in the unit with that tag."""

    name: Callable[[], str]
    tag: int
    function: int

    def enter(self, lines: list[str], path: str, ended: str | None = None) -> None:
        """Enter the path with that number; if ``ended`` is 0, the entry is left to the next path.

        The entry is whole before the ring goes on, so stores keep their order.
        """
        ring, entry, following = self.name(), self.name(), self.name()
        lines += [
            f"  %{ring} = load ptr, ptr {RING}, align 8",
            f"  %{entry} = load ptr, ptr %{ring}, align 8",
        ]
        for offset, type_, value in (
            (_FUNCTION, "i32", str(self.function + 1)),
            (_TAG, "i32", str(self.tag)),
            (_PATH, "i64", path),
        ):
            place = self.name()
            lines += [
                f"  %{place} = getelementptr i8, ptr %{entry}, i64 {offset}",
                f"  store volatile {type_} {value}, ptr %{place}, align {8 if type_ == 'i64' else 4}",
            ]
        lines.append(f"  %{following} = load ptr, ptr %{entry}, align 8")
        if ended is not None:
            over, chosen = self.name(), self.name()
            lines += [
                f"  %{over} = icmp ne i64 {ended}, 0",
                f"  %{chosen} = select i1 %{over}, ptr %{following}, ptr %{entry}",
            ]
            following = chosen
        lines.append(f"  store volatile ptr %{following}, ptr %{ring}, align 8")


def declare_ring(shared: bool) -> list[str]:
    """The variable that holds a thread's ring, one for the whole process, and what finds it."""
    model = "initialexec" if shared else "localexec"
    return [
        f"{RING} = weak thread_local({model}) global ptr {NO_RING}, align 8",
        f"{NO_RING} = external hidden global i8",
        f"define internal ptr {FIND_RING}() nounwind uwtable {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {RING})",
        "  ret ptr %address",
        "}",
        "",
    ]
