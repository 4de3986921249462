"""Symbols to the names of the source: C++ and both manglings of Rust."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import llvmlite.binding.ffi
import pytest

from tests.native.building import must
from trodden.collect.binary.elf import ElfFile
from trodden.native.demangle.names import demangle

RUST_V0 = {
    "_RNvC6_123foo3bar": "123foo::bar",
    "_RNvNtCs1234_7mycrate3foo3bar": "mycrate::foo::bar",
    "_RNvCs1234_7mycrateu8gdel_5qa": "mycrate::gödel",
    "_RNCNvCsgStHSCytQ6I_7mycrate3foo0B3_": "mycrate::foo::{closure#0}",
    "_RNCNvCsgStHSCytQ6I_7mycrate3foos_0B3_": "mycrate::foo::{closure#1}",
    "_RINvCsgStHSCytQ6I_7mycrate3foomxEB2_": "mycrate::foo::<u32, i64>",
    "_RNvMs_C7mycrateNtB4_3Foo3bar": "<mycrate::Foo>::bar",
    "_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo": "<mycrate::Example as mycrate::Trait>::foo",
    "_RNvYNtC7mycrate3FooNtB4_3Bar3baz": "<mycrate::Foo as mycrate::Bar>::baz",
    "_RINvC1a1fRShEB2_": "a::f::<&[u8]>",
    "_RINvC1a1fQTmeEEB2_": "a::f::<&mut (u32, str)>",
    "_RINvC1a1fTmEEB2_": "a::f::<(u32,)>",
    "_RINvC1a1fAhj8_EB2_": "a::f::<[u8; 8]>",
    "_RINvC1a1fPzOuEB2_": "a::f::<*const !, *mut ()>",
    "_RINvC1a1fFUKCmEuEB2_": 'a::f::<unsafe extern "C" fn(u32)>',
    "_RINvC1a1fFEbEB2_": "a::f::<fn() -> bool>",
    "_RINvC1a1fFG_RL0_hERL0_hEB2_": "a::f::<for<'a> fn(&'a u8) -> &'a u8>",
    "_RINvC1a1fDNtC1b1TEL_EB2_": "a::f::<dyn b::T>",
    "_RINvC1a1fDINtC1b1ThEp4ItemmEL_EB2_": "a::f::<dyn b::T<u8, Item = u32>>",
    "_RINvC1a1fDNtC1b1Tp4ItemmNtBa_1SEL_EB2_": "a::f::<dyn b::T<Item = u32> + b::S>",
    "_RINvC1a1fKj7b_Kxna_Kb1_Kc41_EB2_": "a::f::<123, -10, true, 'A'>",
    "_RNSNvC1a1f6vtable": "a::f::{shim:vtable#0}",
    "_RINvC1a1fRL_hQL_SeEB2_": "a::f::<&u8, &mut [str]>",
    "_RINvC1a1fpKpEB2_": "a::f::<_, _>",
    "_RINvC1a1fFK8C_unwindvEuEB2_": 'a::f::<extern "C-unwind" fn(...)>',
    "_RINvC1a1fFGr_RL0_hEuEB2_": (
        "a::f::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, 'r, 's, 't, 'u, "
        "'v, 'w, 'x, 'y, 'z, '_26, '_27, '_28> fn(&'_28 u8)>"
    ),
    "_RINvC1a1fDG_INtC1b2FnTRL0_hEEp6OutputuEL_EB2_": "a::f::<dyn for<'a> b::Fn<(&'a u8,), Output = ()>>",
    "_RINvC1a1fDNtC1b1Tp1NKj4_EL_EB2_": "a::f::<dyn b::T<N = 4>>",
    "_RINvC1a1fWmRm1_m9_WmORm1_m2_Rm5_m6_EEB2_": "a::f::<u32 is 1..=9, u32 is 1..=2 | 5..=6>",
    "_RINvC1a1fKj0_Kh_Kcd_Kc27_Kb0_EB2_": "a::f::<0, 0, '\\r', '\\'', false>",
    "_RINvC1a1fKc3b1_Kc22_Kc1_EB2_": "a::f::<'α', '\"', '\\u{1}'>",
    "_RINvC1a1fKo10000000000000000_EB2_": "a::f::<0x10000000000000000>",
    "_RINvC1a1fKRe61220a_EB2_": 'a::f::<"a\\"\\n">',
    "_RINvC1a1fKe6162_KRh7_KQTEEB2_": 'a::f::<{*"ab"}, {&7}, {&mut ()}>',
    "_RINvC1a1fKAh1_h2_EKTj0_EKTh1_b0_EEB2_": "a::f::<{[1, 2]}, {(0,)}, {(1, false)}>",
    "_RINvCsMFcWZIgf7o_5v0src3wayKVNtNtB2_3Way2UpTln2_EEB2_": "v0src::way::<{v0src::Way::Up(-2)}>",
    "_RINvCsMFcWZIgf7o_5v0src3wayKVNtNtB2_3Way4DownUEB2_": "v0src::way::<{v0src::Way::Down}>",
    "_RINvCsMFcWZIgf7o_5v0src5sizedKVNtB2_4SizeS1wh3_4nameRec3a9_EEB2_": (
        'v0src::sized::<{v0src::Size { w: 3, name: "é" }}>'
    ),
    "_RNCNCNvC1a1f00B5_": "a::f::{closure#0}::{closure#0}",
}
RUST_LEGACY = {
    "_ZN4main4main17h0123456789abcdefE": "main::main",
    "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h"
    "0123456789abcdefE": "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>",
    "_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE.llvm.77": (
        "<&T as core::fmt::Debug>::fmt"
    ),
    "_ZN1a24S$LT$$u5b$T$u5d$$C$F$GT$1f17h0123456789abcdefE": "a::S<[T],F>::f",
    "_ZN1a64_$LT$impl$u20$b..T$LT$$u21$$GT$$u20$for$u20$$RF$$u27$a$u20$U$GT$1f17h0123456789abcdefE": (
        "a::<impl b::T<!> for &'a U>::f"
    ),
    "_ZN1a6$u3b1$1f17h0123456789abcdefE": "a::α::f",
}
CXX = {
    "_ZN3foo3barEv": "foo::bar()",
    "_ZN1AC1Ei": "A::A(int)",
    "_ZN1AD0Ev": "A::~A()",
    "_ZN1AILb1ELj2EE1fEv": "A<true, 2u>::f()",
    "_Z3addIJiiEEiDpT_": "int add<int, int>(int, int)",
    "_Z1fIRiEDcOT_": "decltype(auto) f<int&>(int&)",
    "_ZN12_GLOBAL__N_11fEv": "(anonymous namespace)::f()",
    "_ZZ1fvENKUliE_clEi": "f()::'lambda'(int)::operator()(int) const",
    "_ZZ4mainENK3$_0clEii": "main::$_0::operator()(int, int) const",
    "_ZZNSt3__16vectorIiNS_9allocatorIiEEE12emplace_backIJiEEERiDpOT_ENKUlvE_clEv": (
        "int& std::__1::vector<int, std::__1::allocator<int>>::emplace_back<int>(int&&)::'lambda'()"
        "::operator()() const"
    ),
    "_ZNK1AcvbEv": "A::operator bool() const",
    "_ZltRK1AS1_": "operator<(A const&, A const&)",
    "_Z1fPFivEM1AFivE": "f(int (*)(), int (A::*)())",
    "_ZN1A1fB5cxx11Ev": "A::f[abi:cxx11]()",
    "_Z1fv.cold": "f() (.cold)",
}


@pytest.mark.parametrize(("symbol", "name"), list(RUST_V0.items()), ids=lambda text: text[:40])
def test_rust_v0(symbol: str, name: str) -> None:
    assert demangle(symbol) == name
    assert demangle(f"{symbol}.llvm.1234") == name


@pytest.mark.parametrize("symbol", RUST_LEGACY, ids=lambda text: text[:40])
def test_rust_legacy(symbol: str) -> None:
    assert demangle(symbol) == RUST_LEGACY[symbol]


def test_debug_information_has_the_arguments_that_legacy_names_omit() -> None:
    assert demangle("_ZN1a3vec4push17h0123456789abcdefE", "push<u32, b::C>") == "a::vec::push::<u32, b::C>"
    assert demangle("_ZN1a3vec4push17h0123456789abcdefE", "other<u32>") == "a::vec::push"
    closure = "_ZN1a1f28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"
    assert demangle(closure, "{closure#1}<u8>") == "a::f::{closure#1}<u8>"


@pytest.mark.parametrize(
    "symbol",
    [
        "_R",
        "_RX",
        "_RNvC1a",
        "_RNvC1a99b",
        "_RB_",
        "_RNvB_1a",
        "_RINvC1a1f",
        "_R1NvC1a1f",
        "_RNvC1au3-é1b",
        "_RNvC1a1f!",
        "_Z",
        "_Zfoo",
        "_ZN1a",
        "plain",
    ],
)
def test_a_symbol_of_no_mangling_is_its_own_name(symbol: str) -> None:
    assert demangle(symbol) == symbol


def test_a_symbol_cannot_grow_without_end() -> None:
    """Each reference doubles what the one before stands for."""
    symbol = "_RINvC1a1fTmmE"
    for _ in range(30):
        symbol += f"TB{_base62(symbol, 'T')}B{_base62(symbol, 'T')}E"
    assert demangle(symbol + "E") == symbol + "E"
    deep = "_RINvC1a1f" + "R" * 5000 + "hE"
    assert demangle(deep) == deep


def _base62(symbol: str, kind: str) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    number, text = symbol.rindex(kind) - 2 - 1, ""
    while True:
        number, digit = divmod(number, 62)
        text = digits[digit] + text
        if number == 0:
            return f"{text}_"


@pytest.mark.parametrize(("symbol", "name"), list(CXX.items()))
def test_cxx(symbol: str, name: str) -> None:
    assert demangle(symbol) == name


def test_nested_templates_do_not_overflow_the_stack() -> None:
    deep = "_ZN" + "1aI" * 100_000 + "i" + "E" * 100_000 + "Ev"
    assert demangle(deep) == deep


def test_a_program_with_deduced_return_types_compiles(tmp_path: Path) -> None:
    source = "template <class T> decltype(auto) f(T &&x) { return (x); }\nint g = f(7);\n"
    (tmp_path / "a.cpp").write_text(source)
    must("c++", "-O0", "-c", "a.cpp", "-o", "a.o", cwd=tmp_path)


_ONE_IN = 16
_STRING = re.compile(r"std::basic_string<char,std::char_traits<char>,std::allocator<char>>")


def test_symbols_of_a_large_program() -> None:
    """Nearly every name of LLVM is decoded, and as binutils decodes it where that is installed.

    The two demanglers differ in spaces, in how they write lambdas and clones, and in expressions.
    """
    symbols = _symbols(Path(llvmlite.binding.ffi.lib._name))[::_ONE_IN]
    if len(symbols) < 1000:
        pytest.skip("LLVM's library has no symbol table here")
    names = [demangle(symbol) for symbol in symbols]
    decoded = sum(name != symbol for name, symbol in zip(names, symbols, strict=True))
    assert decoded > 0.99 * len(symbols)
    filt = shutil.which("c++filt")
    if filt is None:
        return
    done = subprocess.run([filt], input="\n".join(symbols), capture_output=True, text=True, check=True)
    pairs = [
        (_squeezed(ours), _squeezed(theirs))
        for symbol, ours, theirs in zip(symbols, names, done.stdout.splitlines(), strict=True)
        if "." not in symbol and "lambda" not in theirs
    ]
    assert len(pairs) > len(symbols) // 2
    assert sum(ours == theirs for ours, theirs in pairs) > 0.98 * len(pairs)


def _symbols(path: Path) -> list[str]:
    """The mangled C++ names in the string tables of a file."""
    with path.open("rb") as stream:
        file = ElfFile(stream, str(path))
        tables = [file.content(each) for each in file.sections if file.is_named(each, ".strtab")]
    names = {name for table in tables for name in table.split(b"\0") if name.startswith(b"_Z")}
    return sorted(map(bytes.decode, names))


def _squeezed(name: str) -> str:
    return _STRING.sub("std::string", name.replace(" ", ""))
