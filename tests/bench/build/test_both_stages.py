"""A build with probes of both stages behaves as the program does, and has the paths of it."""

from __future__ import annotations

from pathlib import Path

from bench.build import both_stages
from tests.native.building import execute, must
from trodden.profile.store.trod import load

_SOURCE = """
#include <stdexcept>
static int half(int n) {
    if (n % 2)
        throw std::runtime_error("odd");
    return n / 2;
}
int main(int count, char **) {
    try {
        return half(count);
    } catch (const std::exception &) {
        return 7;
    }
}
"""


def test_probes_of_the_early_stage_are_code_for_the_late_one(tmp_path: Path) -> None:
    source, made = tmp_path / "x.cpp", tmp_path / "x"
    source.write_text(_SOURCE)
    words = ("--trodden-profile=paths", "-O1", str(source), "-o", str(made))
    assert both_stages.main("c++", *words) == 0
    assert execute([str(made)], tmp_path).returncode == 7
    assert b"__early_counts" in made.read_bytes()
    must("collect", *tmp_path.glob("*.raw"), "-o", "x.trod", cwd=tmp_path)
    assert load(tmp_path / "x.trod").functions["main"].paths


def test_names_of_probes_are_replaced_and_those_of_the_program_are_not() -> None:
    text = (
        "@__trodden_layout_4 = external hidden constant i8\n"
        "@unit = global { ptr } { ptr @__trodden_layout_4 }\n"
        'define void @f() personality ptr @"__trodden_around.__gxx_personality_v0" {\n'
        "  %trodden.1 = load i64, ptr @__trodden_counts\n}\n"
        'define hidden i32 @"__trodden_around.__gxx_personality_v0"() {\n  ret i32 0\n}\n'
        "define void @my_trodden_path() personality ptr @__trodden_personality {\n}\n"
        "declare hidden i32 @__trodden_personality()\n"
    )
    assert both_stages.as_code_of_the_program(text) == (
        "@unit = global { ptr } { ptr null }\n"
        'define void @f() personality ptr @"__gxx_personality_v0" {\n'
        "  %early.1 = load i64, ptr @__early_counts\n}\n"
        "define void @my_trodden_path() {\n}\n"
    )
