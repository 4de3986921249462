"""The variable in which caller and callee tell each other what they have executed (``trodden.h``)."""

from __future__ import annotations

from trodden.native.lower.runtime_symbols import CHANNEL, COUNT_CROSSING

FIND_CHANNEL = "@__trodden_find_channel"
_NOTHING = "@trodden_no_crossings"
TARGET, SITE, PREFIX, TOKEN, ADDRESS, CALLEE, PATH = range(0, 56, 8)
"""Where its parts are."""


def channel_field(offset: int) -> str:
    """The address of a part."""
    return f"getelementptr (i8, ptr {CHANNEL}, i64 {offset})" if offset else CHANNEL


def declare_channel(shared: bool) -> list[str]:
    """The variable, one for the whole process, what finds it, and what counts."""
    model = "initialexec" if shared else "localexec"
    start = f"{{ [7 x i64], ptr }} {{ [7 x i64] zeroinitializer, ptr {_NOTHING} }}"
    return [
        f"{CHANNEL} = weak thread_local({model}) global {start}, align 8",
        f"{_NOTHING} = external hidden global i8",
        f"declare hidden preserve_mostcc void {COUNT_CROSSING}(ptr, i64, i64, i64, i64) nounwind willreturn",
        f"define internal ptr {FIND_CHANNEL}() nounwind uwtable {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {CHANNEL})",
        "  ret ptr %address",
        "}",
        "",
    ]
