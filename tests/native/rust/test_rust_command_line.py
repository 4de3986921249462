"""rustc's command line, split into what matters here; no Rust compiler is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from trodden.errors import InputMissing, UsageError
from trodden.native.rust.command_line import parse_rust, without_emit


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
