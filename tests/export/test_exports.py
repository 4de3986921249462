"""The formats that other tools read, compared with files that were reviewed by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.profile.making import function, profile_of, unit_of
from tests.profile.sample import sample
from trodden.errors import UsageError
from trodden.export.dot import lines_text, quoted, to_dot
from trodden.export.json_document import to_document, to_json
from trodden.export.lcov import to_lcov
from trodden.plan.counters.blocks import every_block
from trodden.profile.model import Profile
from trodden.profile.select import select
from trodden.program.facts import LineRef, SourceFile
from trodden.version import __version__

GOLDEN = Path(__file__).parent / "golden"


def test_the_sample_obeys_the_flow_law() -> None:
    assert all(each.violations == () for each in sample().functions.values())
    assert sample().functions["main"].entries == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sample.json", to_json(sample())),
        ("sample.lcov", to_lcov(sample())),
        ("sample.dot", to_dot(sample())),
        ("never.dot", to_dot(sample(), "never")),
    ],
)
def test_golden(name: str, text: str) -> None:
    assert text == (GOLDEN / name).read_text().replace("VERSION", __version__)


def test_json_has_paths_cut_short_and_inlined_instances() -> None:
    [main] = to_document(sample(), "main")["functions"]
    blocks = {block["id"]: block for block in main["blocks"]}
    assert blocks["last"] == {"id": "last", "lines": [12], "count": 1, "cut_short": 1}
    assert blocks["then"]["inlined"] == [{"file": "/src/a.h", "line": 2}]
    assert {"src": "last", "dst": "exit", "count": 0} in main["edges"]
    assert main["entries"] == 1


def test_json_has_null_for_edges_that_a_block_profile_does_not_determine() -> None:
    unit = unit_of(function("f", "a>b a>c b>d b>e c>d c>e d>exit e>exit", planner=every_block))
    flow = {"a>b": 1, "a>c": 1, "b>d": 1, "c>e": 1, "d>exit": 1, "e>exit": 1, "@a": 2}
    document = json.loads(to_json(profile_of(unit, {"f": flow})))
    assert document["kind"] == "blocks"
    assert None in [edge["count"] for edge in document["functions"][0]["edges"]]
    assert "BRDA:" not in to_lcov(profile_of(unit, {"f": flow}))


def test_lcov_totals_agree_with_its_records() -> None:
    for record in to_lcov(sample()).split("end_of_record\n")[:-1]:
        for kind, total, hit in (("DA", "LF", "LH"), ("BRDA", "BRF", "BRH"), ("FNDA", "FNF", "FNH")):
            found = re.findall(rf"^{kind}:(.*)$", record, re.MULTILINE)
            taken = [part.split(",")[0 if kind == "FNDA" else -1] for part in found]
            assert f"{total}:{len(found)}\n" in record
            assert f"{hit}:{sum(count not in ('0', '-') for count in taken)}\n" in record


def test_lcov_distinguishes_functions_of_one_name() -> None:
    unit = unit_of(
        function("f(int)", "a>exit", linkage_name="_Z1fi.1", line=4),
        function("f(int)", "a>exit", linkage_name="_Z1fi.2", line=8),
        function("g(int, int)", "a>exit", linkage_name="_Z1gii", line=9),
    )
    text = to_lcov(profile_of(unit, {"_Z1fi.2": {"a>exit": 3}}))
    assert "FN:4,_Z1fi.1\nFN:8,_Z1fi.2\nFN:9,_Z1gii\n" in text
    assert "FNDA:0,_Z1fi.1\nFNDA:3,_Z1fi.2\nFNDA:0,_Z1gii\nFNF:3\nFNH:1\n" in text


def test_variants_of_one_function_are_one_in_lcov() -> None:
    unit = unit_of(
        function("f(int)", "a>exit", linkage_name="_Z1fi.1"),
        function("f(int)", "a>exit", linkage_name="_Z1fi.2"),
    )
    text = to_lcov(profile_of(unit, {"_Z1fi.1": {"a>exit": 1}, "_Z1fi.2": {"a>exit": 3}}))
    assert "FN:1,f(int)\nFNDA:4,f(int)\nFNF:1\nFNH:1\n" in text


def _named(*names: str) -> Profile:
    return profile_of(unit_of(*(function(name, "a>exit", linkage_name=f"_{name}") for name in names)), {})


@pytest.mark.parametrize(
    ("pattern", "picked"),
    [
        (None, ["main", "operator[]", "operatora"]),
        ("main", ["main"]),
        ("m*", ["main"]),
        ("operator[]", ["operator[]"]),
        ("operator*", ["operator[]", "operatora"]),
        ("_main", ["main"]),
    ],
)
def test_functions_are_selected_by_name_or_pattern(pattern: str | None, picked: list[str]) -> None:
    assert list(select(_named("main", "operator[]", "operatora"), pattern)) == picked


@pytest.mark.parametrize(
    ("name", "picked_by"),
    [
        ("a::f(int (*)())", "a::f"),
        ("(anonymous namespace)::f(int) const", "(anonymous namespace)::f"),
        ("A::operator()(int)", "A::operator()"),
        ("plain", "plain"),
    ],
)
def test_functions_are_selected_without_their_parameters(name: str, picked_by: str) -> None:
    assert list(select(_named(name), picked_by)) == [name]


def test_an_empty_selection_is_explained() -> None:
    with pytest.raises(UsageError, match=r"no function matches 'nix'; see trodden report"):
        select(sample(), "nix")
    with pytest.raises(UsageError, match="it was not profiled: it is written in assembler"):
        select(sample(), "start")


def test_formatting_of_small_parts() -> None:
    files = [SourceFile("/src/a.h"), SourceFile("/src/a.c")]
    refs = [*(LineRef(1, line) for line in (12, 5, 13, 14, 0, 5)), LineRef(0, 15), LineRef(0, 16)]
    assert lines_text(refs, 1, files) == "5, 12-14, a.h:15-16"
    assert lines_text([], 0, files) == ""
    assert quoted('a"b', "c\\d\n") == '"a\\"b\\nc\\\\d "'
