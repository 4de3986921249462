"""Other names of functions, addresses that are used, and what runs at the start, read off IR text."""

from __future__ import annotations

from trodden.native.analysis.features import ModuleFeatures, function_features, read_module_features
from trodden.native.analysis.function_cfg import read_function
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.weigh.features.block_features import FunctionFeatures

ENTRY = "{ i32, ptr, ptr }"
MODULE = f"""\
@data = global i32 0
@cell = alias i32, ptr @data
@sure = hidden unnamed_addr alias i32 (ptr, ptr), ptr @real
@twice = dso_local alias i32 (ptr, ptr), ptr @sure
@may_be = weak alias i32 (ptr, ptr), ptr @real
@within = internal alias i32 (ptr, ptr), ptr @"odd name"
@llvm.global_ctors = appending global [2 x {ENTRY}] \
[{ENTRY} {{ i32 65535, ptr @begin, ptr null }}, {ENTRY} {{ i32 9, ptr @within, ptr @real }}]
@llvm.global_dtors = appending global [1 x {ENTRY}] [{ENTRY} {{ i32 65535, ptr @end, ptr null }}]
@table = global [2 x ptr] [ptr null, ptr LISTED]

define void @f(ptr %p) {{
  %a = call i32 @twice(ptr %p, ptr %p)
  %b = call i32 @may_be(ptr %p, ptr %p)
  %c = call i32 @within(ptr %p, ptr %p)
  call void @qsort(ptr %p, i64 1, i64 1, ptr GIVEN)
  ret void
}}

define i32 @real(ptr %a, ptr %b) {{
  ret i32 0
}}

define i32 @"odd name"(ptr %a, ptr %b) {{
  ret i32 0
}}

declare void @qsort(ptr, i64, i64, ptr)
declare void @begin()
declare void @end()
"""


def read(given: str = "null", listed: str = "null") -> tuple[FunctionFeatures, ModuleFeatures]:
    module = cut_module(MODULE.replace("GIVEN", given).replace("LISTED", listed))
    shared = read_module_features(module)
    found = read_function(cut_function(module.definitions[0]), shared.attributes)
    return function_features(found, shared), shared


def test_calls_by_other_names() -> None:
    """A weak alias keeps its name: another unit may define it."""
    features, shared = read("@sure")
    calls = features.blocks[0].calls
    assert [call.callee for call in calls] == ["real", "may_be", "odd name", "qsort"]
    assert calls[3].passes == ((3, "real"),)
    assert shared.aliases.public == (("may_be", "real"), ("sure", "real"), ("twice", "real"))
    assert read("@may_be")[0].blocks[0].calls[3].passes == ((3, "may_be"),)


def test_neither_an_alias_nor_a_constructor_takes_an_address() -> None:
    assert read()[1].taken == ()
    assert read(given="@twice")[1].taken == ("real",)
    assert read(given="@may_be", listed="@within")[1].taken == ("may_be", "odd name")
    assert read(listed="@begin")[1].taken == ("begin",)


def test_constructors_and_destructors() -> None:
    assert read()[1].started == ("begin", "end", "odd name")


def test_debug_records_are_no_instructions() -> None:
    text = "  %a = add i32 %n, 1\n  br label %b\n\nb:\n  ret i32 %a"
    record = "    #dbg_value(i32 %n, !1, !DIExpression(), !2)\n"
    noted = record + text.replace("  br", f"{record}  br").replace("  ret", f"{record}  ret")
    for body in (text, noted):
        function = cut_function(f"define i32 @f(i32 %n) {{\n{body}\n}}")
        assert [block.size for block in function.blocks] == [2, 1]
