"""Loops whose trip count is computed on their exit edges: no instruction is added inside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.native.building import must

SUM = """\
unsigned sum(const unsigned char *from)
{{
    unsigned made = 0;
#pragma clang loop unroll(disable)
    for ({type} i = {start}; i {until}; i += {step}) {{
        made = (made >> 1) + ((made & 1) << 15) + from[i];
        made &= 0xffff;
    }}
    return made;
}}
"""
LOOP = re.compile(r"^(\.LBB0_\d+):(.*?)^\tj\w+\t\1$", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"^\t[a-z]\S*(?:\t.*?)?(?=\s*(?:#|$))", re.MULTILINE)


def loop_body(source: Path, *options: str) -> list[str]:
    """The instructions of the only loop of a function."""
    assembly = source.with_suffix(".s")
    must("cc", "-O2", "-S", *options, source, "-o", assembly, cwd=source.parent)
    (loop,) = LOOP.findall(assembly.read_text())
    return INSTRUCTION.findall(loop[1])


@pytest.mark.parametrize("profile", ["edges", "paths"])
@pytest.mark.parametrize(
    ("type_", "start", "until", "step"),
    [
        ("unsigned long", 0, "< 32768", 2),
        ("unsigned long", 4, "< 32768", 4),
        ("unsigned long", 7, "< 32770", 3),
        ("long", 32768, ">= 0", -1),
        ("long", 32768, ">= 0", -8),
    ],
)
def test_no_instruction_is_added(
    tmp_path: Path, profile: str, type_: str, start: int, until: str, step: int
) -> None:
    source = tmp_path / "sum.c"
    source.write_text(SUM.format(type=type_, start=start, until=until, step=step))
    without_probes = loop_body(source, "--trodden-only=nothing")
    assert len(without_probes) > 6
    assert len(loop_body(source, f"--trodden-profile={profile}")) == len(without_probes)
