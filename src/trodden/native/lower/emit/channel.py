"""What a unit declares and defines where paths extend over its calls (``trodden.h``)."""

from __future__ import annotations

from trodden.native.lower.call_layout import SCRATCH, SITE_TYPE, CallLayout
from trodden.native.lower.runtime_symbols import CHANNEL, UNIT

FIND_CHANNEL = "@__trodden_find_channel"
CALLS = "@__trodden_calls"
RECORDS, TARGETS, WORDS = "@__trodden_records", "@__trodden_targets", "@__trodden_words"
COUNT_CROSSING = "@__trodden_crossed"
ASK_CALLED, ASK_RETURNED = "@__trodden_ask.called", "@__trodden_ask.returned"
ASK_TARGET, ASK_PREFIX = "@__trodden_ask.target", "@__trodden_ask.prefix"
"""Functions of the unit that ask the runtime.

What they are asked is in the channel, and in a register that no C function uses for an argument, so that
their callers have to save none.
"""
ROW, RETURNED, ASKED, ADDRESS, TOKEN = 0, 8, 24, 32, 40
"""Where the parts of the channel are."""
SITE_BYTES, FUNCTION_BYTES = 24, 16

_NOTHING = "@trodden_no_crossings"
_NOBODY, _PREFIXES = "@__trodden_nobody", "@__trodden_prefixes"
SITES, FUNCTIONS = "@__trodden_call_sites", "@__trodden_called_functions"
_FUNCTION_TYPE = "{ i64, i32, i32 }"
_MOST_NOBODY = 1 << 12


def channel_field(offset: int) -> str:
    """The address of a part of the channel."""
    return f"getelementptr (i8, ptr {CHANNEL}, i64 {offset})" if offset else CHANNEL


def declare_channel(layout: CallLayout, shared: bool) -> list[str]:
    """The channel, one for the whole process; what the unit tells the runtime of its calls; what it calls."""
    model = "initialexec" if shared else "localexec"
    start = f"{{ i64, i64, ptr, [3 x i64] }} {{ i64 0, i64 0, ptr {_NOTHING}, [3 x i64] zeroinitializer }}"
    words, functions = layout.words, len(layout.function_rows)
    calls = ", ".join(
        (
            f"ptr {FIND_CHANNEL}, ptr {RECORDS}, i64 {words}, ptr {_NOBODY}",
            f"ptr {SITES}, i64 {len(layout.site_rows)}, ptr {_PREFIXES}, ptr {FUNCTIONS}, i64 {functions}",
            f"ptr {WORDS}, i64 {SCRATCH}, i64 {layout.slots}",
        )
    )
    prefixes = [f"i64 {each}" for each in layout.prefixes]
    types = "{ ptr, ptr, i64, ptr, ptr, i64, ptr, ptr, i64, ptr, i64, i64 }"
    return [
        f"{CHANNEL} = weak thread_local({model}) global {start}, align 8",
        f"{_NOTHING} = external hidden global i8",
        f"{RECORDS} = internal global [{words} x i64] zeroinitializer, align 16",
        f"{WORDS} = internal global [{functions} x i64] zeroinitializer, align 8",
        f"{_NOBODY} = internal global [{_MOST_NOBODY} x i64] zeroinitializer, align 8",
        f"{TARGETS} = internal global {_array('ptr', [f'ptr {_NOBODY}'] * layout.targets)}, align 8",
        f"{SITES} = internal constant {_array(SITE_TYPE, layout.site_rows)}, align 8",
        f"{_PREFIXES} = internal constant {_array('i64', prefixes)}, align 8",
        f"{FUNCTIONS} = internal constant {_array(_FUNCTION_TYPE, layout.function_rows)}, align 8",
        f"{CALLS} = internal constant {types} {{ {calls} }}, align 8",
        f"declare hidden preserve_mostcc void {COUNT_CROSSING}(ptr, i64, i64) nounwind willreturn",
        *_asking(ASK_CALLED, "i64", "__trodden_called"),
        *_asking(ASK_RETURNED, "i64", "__trodden_returned"),
        *_asking(ASK_TARGET, "ptr", "__trodden_target"),
        *_asking(ASK_PREFIX, "i64", "__trodden_prefix"),
        f"define internal ptr {FIND_CHANNEL}() nounwind uwtable {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {CHANNEL})",
        "  ret ptr %address",
        "}",
        *(
            f"{alias} = private alias i8, ptr {function}"
            for function, alias in layout.names.own_names.items()
        ),
        "",
    ]


def _asking(name: str, result: str, runtime: str) -> list[str]:
    """A function of the unit that asks the runtime about its argument, and what is in the channel."""
    return [
        f"declare hidden preserve_mostcc {result} @{runtime}(ptr, ptr, ptr) nounwind willreturn",
        f"define internal preserve_mostcc {result} {name}(ptr nest %what) nounwind noinline uwtable {{",
        f"  %channel = call ptr @llvm.threadlocal.address.p0(ptr {CHANNEL})",
        f"  %answer = call preserve_mostcc {result} @{runtime}(ptr {UNIT}, ptr %what, ptr %channel)",
        f"  ret {result} %answer",
        "}",
        "",
    ]


def _array(kind: str, elements: list[str]) -> str:
    return (
        f"[{len(elements)} x {kind}] [{', '.join(elements)}]" if elements else f"[0 x {kind}] zeroinitializer"
    )
