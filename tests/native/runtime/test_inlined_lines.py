"""Lines of inlined code, against reference counts that the program keeps itself.

The reference counts are volatile, so that an optimiser keeps each of them; loops are not unrolled, since a
block that contains a line twice runs once.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, trodden
from trodden.export.json_document import to_document
from trodden.profile.model import Profile
from trodden.profile.store.trod import load
from trodden.source.lines import line_counts

SOURCE = PROGRAMS / "inlined_lines.c"
STATUS = 34
_ENTRY = re.compile(r"^0:(\d+)=(\d+)$", re.MULTILINE)
_PLAIN_LOOPS = ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize")


def _run(directory: Path, *flags: str) -> tuple[dict[int, int], Profile]:
    own = ("-o", "lines.trod", "--stage", flags[0])
    done = trodden("run", *own, SOURCE, *flags[1:], *_PLAIN_LOOPS, cwd=directory)
    assert (done.returncode, done.stderr) == (STATUS, "")
    reference = {int(line): int(count) for line, count in _ENTRY.findall(done.stdout)}
    return reference, load(directory / "lines.trod")


def _line_with(text: str) -> int:
    [line] = [number for number, here in enumerate(SOURCE.read_text().splitlines(), 1) if text in here]
    return line


@pytest.mark.parametrize("stage", ["late", "early"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_lines_agree_with_the_reference(tmp_path: Path, level: str, stage: str) -> None:
    reference, profile = _run(tmp_path, stage, level)
    counts = line_counts(profile)[str(SOURCE)]
    odd = _line_with("for (unsigned i = v % 5;")
    marked = [number for number, text in enumerate(SOURCE.read_text().splitlines(), 1) if "HIT()" in text]
    assert len(marked) > 20
    assert {line: counts[line].count for line in marked if line != odd} == {
        line: reference[line] for line in marked if line != odd
    }
    if level == "-O0":
        entered = next(each.entries for each in profile.functions.values() if each.name == "on_one_line")
        assert counts[odd].count == reference[odd] + entered
    assert not any(function.violations for function in profile.functions.values())


def test_inlined_instances_are_distinguished_and_lead_to_their_calls(tmp_path: Path) -> None:
    _, profile = _run(tmp_path, "late", "-O0")
    straight = profile.functions["straight"]
    inside = {ref.instance for block in straight.blocks for ref in block.lines}
    assert inside == {0, 1, 2, 3, 4, 5, 6}
    calls = {_line_with("v = next(v);"), _line_with("v = next(v) + next(v + 1);")}
    calls |= {_line_with("v = twice(v);")}
    assert {call.line for call in straight.facts.inlined if call.instance == 0} == calls
    [outer] = {call.instance for call in straight.facts.inlined if call.instance}
    assert straight.facts.inlined[outer - 1].line == _line_with("v = twice(v);")


def test_an_export_names_a_line_once_a_block(tmp_path: Path) -> None:
    _, profile = _run(tmp_path, "late", "-O0")
    [function] = to_document(profile, "straight")["functions"]
    for block in function["blocks"]:
        assert len(set(block["lines"])) == len(block["lines"])
    assert _line_with("return x + 1;") in function["blocks"][0]["lines"]
