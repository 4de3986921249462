"""The source files of a profile: functions, branches and what is left out of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.profile.making import function, profile_of, unit_of
from trodden.export.lcov import to_lcov_file
from trodden.profile.analysis.coverage import Covered
from trodden.profile.filters import file_matches, is_system
from trodden.profile.model import Filter, FunctionProfile
from trodden.profile.select import select
from trodden.program.facts import BlockFacts, LineRef, Subprogram, TruthPhi
from trodden.report.render.github import to_github
from trodden.report.views.annotate import count_text
from trodden.report.views.coverage import report_coverage, to_document
from trodden.source.branches import branches
from trodden.source.coverage import cover_file, cover_files
from trodden.source.exclusions import read_exclusions
from trodden.source.files import FileCounts, source_files
from trodden.source.inlined_entries import inlined_entries
from trodden.source.joined_branches import branches_by_line
from trodden.source.lines import LineCount
from trodden.source.shown import shown_files


def _profile(shape: str, flow: dict[str, int], lines: dict[str, list[int]]) -> FunctionProfile:
    unit = unit_of(function("f", shape, lines=lines))
    return profile_of(unit, {"f": flow}).functions["f"]


def test_an_operand_that_is_evaluated_before_a_phi_has_its_own_outcomes() -> None:
    """``while (a && b)``: the branch after the phi is that of ``b``, without what ``a`` decided."""
    flow = {"a>b": 7, "a>end": 3, "b>end": 7, "end>body": 5, "end>out": 5, "body>exit": 5, "out>exit": 5}
    lines = {"a": [1], "b": [2], "end": [1], "body": [3], "out": [4]}
    one = _profile("a>b a>end b>end end>body end>out body>exit out>exit", flow, lines)
    graph = one.facts.graph
    arrives = next(i for i, e in enumerate(graph.edges) if (e.src, e.dst) == (0, graph.labels.index("end")))
    end = graph.labels.index("end")
    facts = replace(one.facts, truths={end: TruthPhi({arrives: False}, {}, tested=True)})
    found = [
        (each.line, [outcome.count for outcome in each.outcomes])
        for each in branches(replace(one, facts=facts))
    ]
    assert found == [(1, [7, 3]), (2, [5, 2])]
    number = replace(facts, truths={end: TruthPhi({arrives: False}, {}, tested=True, logical=False)})
    plain = [(each.line, [o.count for o in each.outcomes]) for each in branches(replace(one, facts=number))]
    assert plain == [(1, [7, 3]), (1, [5, 5])]


def test_cases_that_lead_to_one_block_are_one_outcome() -> None:
    flow = {"a>b": 6, "a>c": 1, "b>exit": 6, "c>exit": 1}
    one = _profile("a>b a>b a>c b>exit c>exit", flow, {"a": [1], "b": [2], "c": [3]})
    [branch] = branches(one)
    assert [outcome.line for outcome in branch.outcomes] == [2, 3]


def test_swapped_outcomes_of_an_instance_are_aligned() -> None:
    lines = {"a": [1], "b": [2], "c": [3]}
    one = _profile("a>b a>c b>exit c>exit", {"a>b": 5, "a>c": 1, "b>exit": 5, "c>exit": 1}, lines)
    other = _profile("a>c a>b b>exit c>exit", {"a>c": 10, "a>b": 20, "b>exit": 20, "c>exit": 10}, lines)
    [[branch]] = branches_by_line([one, other])["/src/a.c"].values()
    assert [(outcome.line, outcome.count) for outcome in branch.outcomes] == [(2, 25), (3, 11)]


def test_entries_of_inlined_instances_belong_to_their_functions() -> None:
    """The loop calls an inlined function in each iteration; its code is in the block ``body``."""
    flow = {"in>body": 1, "body>next": 10, "next>body": 9, "next>exit": 1}
    one = _profile("in>body body>next next>body next>exit", flow, {"in": [10], "next": [11]})
    body = one.facts.graph.labels.index("body")
    blocks = list(one.facts.blocks)
    blocks[body] = BlockFacts((LineRef(0, 2, 1),))
    facts = replace(
        one.facts,
        line=9,
        blocks=tuple(blocks),
        inlined=(LineRef(0, 11, 0),),
        callees=(Subprogram("callee", 0, 1),),
    )
    caller = replace(one, facts=facts)
    assert [(each.callee.name, each.count) for each in inlined_entries(caller)] == [("callee", 10)]
    file = source_files([caller])["/src/a.c"]
    assert [(each.name, each.line, each.last, each.entries) for each in file.functions] == [
        ("callee", 1, 2, 10),
        ("f", 9, 11, 1),
    ]
    assert {line: count.count for line, count in file.lines.items()}[1] == 10


def test_functions_within_others_are_marked() -> None:
    outer = function("outer", "a>b b>exit", lines={"a": [1], "b": [9]}, line=1)
    inner = function("lambda", "a>exit", lines={"a": [5]}, line=4)
    after = function("after", "a>exit", lines={"a": [12]}, line=11)
    profile = profile_of(unit_of(outer, inner, after), {})
    found = source_files(profile.functions.values())["/src/a.c"].functions
    assert [(each.name, each.enclosed) for each in found] == [
        ("outer", False),
        ("lambda", True),
        ("after", False),
    ]


SOURCE = """\
int f(int x) {          // GCOVR_EXCL_FUNCTION
    if (x)              // LCOV_EXCL_BR_LINE
        return 1;       /* LCOV_EXCL_LINE */
    // LCOV_EXCL_START
    return 2;
    x++;                // LCOV_EXCL_STOP
    // GCOV_EXCL_BR_START
    return x ? 2 : 3;
    x = x ? 4 : 5;      // GCOV_EXCL_BR_STOP
}
"""


def test_exclusion_comments() -> None:
    found = read_exclusions(SOURCE.splitlines())
    assert found.functions == {1}
    assert found.lines == {3, 4, 5}
    assert found.branches == {2, 3, 4, 5, 7, 8}


@pytest.mark.parametrize(
    ("path", "system"),
    [
        ("/usr/include/stdio.h", True),
        ("/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h", True),
        ("/home/me/.venv/lib/python3.12/site-packages/ziglang/lib/libcxx/include/vector", True),
        ("/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/cmp.rs", True),
        ("/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/lib.rs", True),
        ("/opt/llvm/include/c++/v1/map", True),
        ("/home/me/usr/include/own.h", False),
        ("/src/lib/gcc.c", False),
        ("src/a.c", False),
    ],
)
def test_files_of_the_system(path: str, system: bool) -> None:
    assert is_system(path) == system


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("/src/lib/a.c", True),
        ("a.c", True),
        ("lib/*.c", True),
        ("lib", True),
        ("/src/", True),
        ("b.c", False),
    ],
)
def test_patterns_of_files(pattern: str, matches: bool) -> None:
    assert file_matches("/src/lib/a.c", pattern) == matches


def test_functions_of_the_system_are_hidden_unless_there_are_no_others() -> None:
    own = function("main", "a>exit")
    library = function("std::sort", "a>exit")
    unit = unit_of(own, library)
    system = replace(unit.files[0], path="/usr/include/c++/12/bits/stl_algo.h")
    unit = replace(
        unit,
        files=(*unit.files, system),
        functions=(unit.functions[0], replace(unit.functions[1], file=len(unit.files))),
    )
    profile = replace(profile_of(unit, {}), filter=Filter(system=False))
    assert list(select(profile, None)) == ["main"]
    assert list(select(profile, "std::sort")) == ["std::sort"]
    alone = replace(profile, functions={"std::sort": profile.functions["std::sort"]})
    assert list(select(alone, None)) == ["std::sort"]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("asan.module_ctor", True),
        ("tsan.module_dtor.3", True),
        ("sancov.module_ctor_trace_pc_guard", True),
        ("__llvm_gcov_writeout", True),
        ("__clang_call_terminate", True),
        ("_GLOBAL__sub_I_main.cpp", False),
        ("__cxx_global_var_init", False),
        ("module_ctor", False),
    ],
)
def test_functions_that_only_the_compiler_made_are_those_of_the_system(name: str, made: bool) -> None:
    unit = unit_of(function("main", "a>exit"), function(name, "a>exit"))
    profile = replace(profile_of(unit, {}), filter=Filter(system=False))
    assert (name not in select(profile, None)) == made
    listed = {each.name for file in shown_files(profile).files.values() for each in file.functions}
    assert (name not in listed) == made
    everything = replace(profile, filter=Filter(system=True))
    assert name in select(everything, None)
    named = replace(profile, filter=Filter(include=(name,), system=False))
    assert list(select(named, None)) == [name]


def test_a_line_that_may_have_been_executed_is_neither_covered_nor_missed() -> None:
    """Nowhere: not in coverage, not in a tracefile, and ``annotate`` has a question mark for it."""
    unit = unit_of(function("f", "a>b b>exit", {"a": [2], "b": [3, 4]}))
    profile = profile_of(unit, {"f": {"a>b": 1, "b>exit": 1}})
    lines = {2: LineCount(1), 3: LineCount(0, exact=False), 4: LineCount(0), 5: LineCount(0, known=False)}
    counts = FileCounts("/src/a.c", (), lines)
    covered = cover_file(counts)
    assert covered.lines == Covered(1, 2)
    assert [count_text(each) for each in lines.values()] == ["1", "?", "#####", "?"]
    assert [row for row in to_lcov_file(counts) if row.startswith("DA")] == ["DA:2,1", "DA:4,0"]
    report = replace(report_coverage([profile], ["x"]), sources=cover_files({"/src/a.c": counts}))
    assert to_document(report)["source_files"][0]["missed_lines"] == [4]
    assert "line 4 was never executed" in to_github(report)
