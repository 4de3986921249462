"""Rust's symbols read back, and rustc's command line taken apart; neither needs a Rust compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from trodden.errors import InputMissing, UsageError
from trodden.native.demangle.names import demangle
from trodden.native.demangle.rust_legacy import rust_name
from trodden.native.rust.command_line import parse_rust, without_emit

NEW = {
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
}
OLD = {
    "_ZN4main4main17h0123456789abcdefE": "main::main",
    "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h"
    "0123456789abcdefE": "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>",
    "_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE.llvm.77": (
        "<&T as core::fmt::Debug>::fmt"
    ),
}


@pytest.mark.parametrize(("symbol", "name"), list(NEW.items()), ids=lambda text: text[:40])
def test_new_mangling(symbol: str, name: str) -> None:
    assert rust_name(symbol) == name
    assert demangle(symbol) == name
    assert demangle(f"{symbol}.llvm.1234") == name


@pytest.mark.parametrize("symbol", OLD)
def test_old_mangling(symbol: str) -> None:
    assert demangle(symbol) == OLD[symbol]


def test_debug_information_has_the_types_that_old_names_lack() -> None:
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
    ],
)
def test_what_is_no_symbol_stays_as_it_is(symbol: str) -> None:
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


def test_names_of_cxx_are_left_to_others() -> None:
    assert demangle("_ZN3foo3barEv") == "foo::bar()"
    assert demangle("plain") == "plain"


# Command lines


def test_what_a_command_line_asks_for() -> None:
    words = "-O -Cdebuginfo=0 --crate-type lib,cdylib --emit=link,obj=x.o -L . src/lib.rs --out-dir d"
    line = parse_rust([*words.split(), "-C", "opt_level=s"])
    assert line.source == "src/lib.rs"
    assert line.crate_types == {"lib", "cdylib"}
    assert line.emits == {"link": None, "obj": "x.o"}
    assert line.out_dir == "d"
    assert (line.level((1, 95)), line.keeps_debug, line.native, line.links_only) == ("s", False, True, False)
    assert without_emit(line.words) == [word for word in line.words if not word.startswith("--emit")]


@pytest.mark.parametrize(("release", "level"), [((1, 63), "2"), ((1, 95), "3")])
def test_what_optimised_means(release: tuple[int, int], level: str) -> None:
    assert parse_rust(["-O", "a.rs"]).level(release) == level
    assert parse_rust(["a.rs"]).level(release) == "0"


@pytest.mark.parametrize(
    "words",
    [
        ["-vV"],
        ["--print", "cfg", "a.rs"],
        ["--emit=metadata", "a.rs"],
        ["-C", "help"],
        ["-W", "help"],
        ["--explain", "E1"],
    ],
    ids=" ".join,
)
def test_what_makes_no_code(words: list[str]) -> None:
    assert not parse_rust(words).native


def test_what_is_told_beside() -> None:
    assert parse_rust(["--print=native-static-libs", "a.rs"]).native


def test_link_time_optimisation_goes() -> None:
    line = parse_rust(
        ["-Clto", "-C", "linker-plugin-lto=no", "--codegen=save-temps", "-C", "incremental=x", "a.rs"]
    )
    assert line.words == ["a.rs"]
    assert [flag for flag, _ in line.ignored] == ["-C lto", "-C save-temps"]


def test_arguments_in_files(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("-O\n--crate-name\na b\n")
    line = parse_rust([f"@{tmp_path / 'words'}", "a.rs"])
    assert (line.optimised, line.crate_name, line.sources) == (True, "a b", ["a.rs"])
    with pytest.raises(InputMissing, match="none: cannot read"):
        parse_rust([f"@{tmp_path / 'none'}"])


@pytest.mark.parametrize("option", ["-Cinstrument-coverage", "-Zsanitizer=address", "-Cprofile-use=x"])
def test_what_does_not_go_together(option: str) -> None:
    with pytest.raises(UsageError, match="leave it out"):
        parse_rust([option, "a.rs"]).check()


def test_what_is_switched_off_goes_together() -> None:
    parse_rust(["-Cinstrument-coverage=off", "a.rs"]).check()
