"""The estimate as a profile: its counts obey the flow law and are read from a file as they were written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import trodden
from tests.native.building import must
from tests.profile.making import function, unit_of
from tests.profile.sample import sample
from trodden.collect.binary.program import read_program
from trodden.errors import BadFile
from trodden.estimating.estimate import estimate, local_estimate
from trodden.graph.cfg import Graph
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import parse
from trodden.native.driver.describe import facts_of_ir, facts_of_source
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.ir.llvm import check
from trodden.native.options.declarations import Options, Stage
from trodden.profile.analysis.calling import calls_of
from trodden.profile.estimated import MOST_EXPECTED, Expected, estimated, one_of_each
from trodden.profile.model import Estimate, FunctionProfile, Profile
from trodden.profile.store.trod import MAGIC, from_bytes, load, save, to_bytes
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.record import seal, unseal
from trodden.weigh.features.block_features import BlockFeatures, CallFeatures, FunctionFeatures
from trodden.weigh.heuristics.rates import WL94, default_rates

EXAMPLE = Path(__file__).parents[2] / "examples" / "wordfreq.c"

CXX = """\
#include <map>
#include <string>
#include <vector>
struct Set { Set() { numbers.push_back(3); } std::vector<int> numbers; } set;
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
int main(int argc, char **argv) {
    std::map<std::string, int> found;
    for (int i = 0; i < argc; i++)
        found[argv[i]] += twice(i);
    for (auto &each : found)
        if (each.second > 3)
            throw each.second;
    return set.numbers[0];
}
"""

RECURSIVE = """\
int even(int n);
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void spin(void) { for (;;) ; }
"""


def _calls(*callees: str) -> BlockFeatures:
    return BlockFeatures(calls=tuple(CallFeatures(callee) for callee in callees))


def _with_features(facts: FunctionFacts, **calls: BlockFeatures) -> FunctionFacts:
    labels = facts.graph.labels[: facts.graph.exit]
    return replace(
        facts,
        features=FunctionFeatures(
            tuple(calls.get(label, BlockFeatures()) for label in labels), signature="v"
        ),
    )


def _unit(*functions: FunctionFacts, source: str = "/src/a.c") -> UnitFacts:
    return unit_of(*functions, files=[source])


def _program() -> UnitFacts:
    main = _with_features(function("main", "a>b b>b b>c c>exit"), b=_calls("f", "f", "printf"))
    return _unit(main, _with_features(function("f", "x>y x>z y>exit z>exit")), function("g", "p>exit"))


def _obeys_the_flow_law(each: FunctionProfile) -> None:
    graph = each.facts.graph
    for vertex, count in enumerate(each.block_counts):
        for edges in (graph.in_edges[vertex], graph.out_edges[vertex]):
            flow = sum(each.edge_counts[edge] or 0 for edge in edges)
            assert math.isclose(flow, count, rel_tol=1e-6, abs_tol=1e-9), (each.name, graph.labels[vertex])
    assert all(count is not None and 0 <= count < math.inf for count in each.edge_counts)
    assert each.per_call[graph.closing] == 1
    assert list(each.edge_counts) == [each.entries * edge for edge in each.per_call]


def _obeys(profile: Profile) -> None:
    assert profile.estimate is not None
    assert profile.functions
    for each in profile.functions.values():
        _obeys_the_flow_law(each)


def test_counts_are_frequencies_per_call_times_calls() -> None:
    profile = estimate("prog", [_program()], WL94)
    _obeys(profile)
    main, f, g = (profile.functions[name] for name in ("main", "f", "g"))
    rounds = 1 / (1 - WL94.taken["loop-branch"])
    assert main.entries == 1
    assert main.blocks[1].count == pytest.approx(rounds)
    assert f.entries == pytest.approx(2 * rounds)
    assert [block.count for block in f.blocks] == pytest.approx([2 * rounds, rounds, rounds])
    assert (g.entries, list(g.per_call)) == (0, [1, 1])
    assert list(f.per_call) == local_estimate(f.facts, WL94)
    called = {(each.caller, each.callee): each.count for each in calls_of(profile)}
    assert called == {("main", "f"): pytest.approx(2 * rounds), ("main", "printf"): pytest.approx(rounds)}


def test_it_is_marked_and_lists_what_is_missing() -> None:
    profile = estimate("prog", [_program()], WL94)
    assert profile.estimate == Estimate("wl94")
    assert (profile.kind, profile.unit_counts, profile.program) == ("edges", (), "prog")
    assert len(profile.messages) == 1
    assert profile.messages[0].startswith("1 of 3 functions were built by an earlier trodden")
    seen = replace(_program(), functions=_program().functions[:2])
    assert estimate("prog", [seen], WL94).messages == ()


def test_skipped_functions_are_listed() -> None:
    unit = unit_of(function("main", "a>exit"), skipped=[("odd", "it is odd")])
    assert [each.name for each in estimate("p", [unit, unit], WL94).skipped] == ["odd"]


def test_one_comdat_copy_of_a_function_counts() -> None:
    shared = _with_features(function("twice", "x>exit", shared=True))
    main = _with_features(function("main", "a>exit"), a=_calls("twice", "other"))
    other = _with_features(function("other", "a>exit"), a=_calls("twice"))
    units = [_unit(main, shared), _unit(other, shared, source="/src/b.c")]
    profile = estimate("p", units, WL94)
    assert {name: each.entries for name, each in profile.functions.items()} == {
        "main": 1,
        "other": 1,
        "twice": 2,
    }
    assert profile.functions["twice"].unit == units[0].id
    assert from_bytes(to_bytes(profile), "x") == profile


def test_static_functions_of_one_name_are_distinguished() -> None:
    def helped(name: str, source: str) -> UnitFacts:
        caller = _with_features(function(name, "a>exit"), a=_calls("help"))
        helper = _with_features(function("help", "a>exit"))
        local = replace(helper, features=replace(helper.features, local=True))
        return _unit(caller, local, source=source)

    profile = estimate("p", [helped("main", "/src/a.c"), helped("unused", "/src/b.c")], WL94)
    found = {name: each.entries for name, each in profile.functions.items()}
    assert found == {"main": 1, "a.c:help": 1, "unused": 0, "b.c:help": 0}


def test_other_frequencies_can_be_supplied() -> None:
    asked: list[tuple[str, str]] = []

    def local(unit: UnitFacts, facts: FunctionFacts) -> list[float]:
        asked.append((unit.id, facts.name))
        return [7.0 if edge.src == edge.dst else 1.0 for edge in facts.graph.edges]

    unit = _unit(
        _with_features(function("main", "a>b b>b b>c c>exit"), b=_calls("f")), function("f", "x>exit")
    )
    profile = estimate("p", [unit], WL94, local)
    assert asked == [(unit.id, "main"), (unit.id, "f")]
    assert profile.functions["f"].entries == 8
    assert profile.functions["main"].blocks[1].count == 8


def test_it_is_read_from_its_file_to_the_last_digit(tmp_path: Path) -> None:
    profile = estimate("prog", [_program()], WL94)
    save(profile, tmp_path / "x.trod")
    assert trodden.load(tmp_path / "x.trod") == profile


def test_an_invalid_file_is_refused() -> None:
    document = unseal(MAGIC, to_bytes(estimate("prog", [_program()], WL94)), "x")[0]
    guess = document["estimate"]
    first = guess["edges"][0]

    def refused(**changes: object) -> str:
        with pytest.raises(BadFile) as error:
            from_bytes(seal(MAGIC, {**document, "estimate": {**guess, **changes}}), "x.trod")
        assert str(error.value).startswith("x.trod: corrupt: it is not a profile")
        return str(error.value)

    assert "columns differ in length" in refused(calls=guess["calls"][1:])
    assert "columns differ in length" in refused(edges=[first[1:], *guess["edges"][1:]])
    assert "out of range" in refused(calls=[-1.0, *guess["calls"][1:]])
    assert "out of range" in refused(calls=[2 * MOST_EXPECTED, *guess["calls"][1:]])
    assert "fractions" in refused(calls=[1, *guess["calls"][1:]])
    assert "columns" in refused(edges="x" * 3)
    assert "enters it once" in refused(edges=[[0.5] * len(first), *guess["edges"][1:]])
    many = [1.0 if edge == first[-1] else 1e200 for edge in first]
    assert "more often than" in refused(calls=[1e200] * 3, edges=[many, *guess["edges"][1:]])
    assert "text" in refused(rates=3)
    with pytest.raises(BadFile):
        from_bytes(seal(MAGIC, {**document, "estimate": []}), "x.trod")


def test_frequencies_beyond_the_range_of_floats_are_bounded() -> None:
    """Sixty functions that each call the next a hundred million times."""
    shape = "a>b b>b b>c c>exit"
    names = ["main", *(f"f{number}" for number in range(60))]
    chain = [
        _with_features(function(name, shape), b=_calls(*[after] * 100))
        for name, after in pairwise([*names, "end"])
    ]

    def local(_: UnitFacts, facts: FunctionFacts) -> list[float]:
        return [1e6 if edge.src == edge.dst else 1.0 for edge in facts.graph.edges]

    profile = estimate("p", [_unit(*chain)], WL94, local)
    _obeys(profile)
    assert max(profile.functions["f59"].block_counts) <= MOST_EXPECTED
    assert from_bytes(to_bytes(profile), "x") == profile


def test_frequencies_are_in_the_order_of_the_functions() -> None:
    units = [_program()]
    flows = [[1.0] * len(facts.graph.edges) for _, facts in one_of_each(units)]
    expected = [Expected(2.0, flow) for flow in flows]
    profile = estimated("p", units, expected, Estimate("none"))
    assert [each.entries for each in profile.functions.values()] == [2.0] * 3
    with pytest.raises(ValueError, match="shorter"):
        estimated("p", units, expected[:2], Estimate("none"))


@pytest.mark.parametrize("stage", ["late", "early"])
def test_the_example(stage: Stage) -> None:
    unit = facts_of_source([str(EXAMPLE), "-O2"], Options(stage=stage))
    profile = estimate("wordfreq", [unit], default_rates())
    _obeys(profile)
    assert profile.messages == ()
    assert profile.functions["main"].entries == 1
    assert profile.functions["by_count"].entries > 1


def _built(tmp_path: Path, name: str, text: str, *flags: str) -> UnitFacts:
    (tmp_path / name).write_text(text)
    return facts_of_source([str(tmp_path / name), *flags], Options())


def test_cxx(tmp_path: Path) -> None:
    profile = estimate("cxx", [_built(tmp_path, "a.cpp", CXX, "-O1")], default_rates())
    _obeys(profile)
    entries = {each.facts.linkage_name: each.entries for each in profile.functions.values()}
    assert entries["main"] == 1
    assert entries["_GLOBAL__sub_I_a.cpp"] == 1
    assert entries["_Z5twiceIiET_S0_"] > 1


ALIASED = """\
#include <stdlib.h>
__attribute__((noinline)) int real(const void *a, const void *b) { return *(char *)a - *(char *)b; }
int known(const void *a, const void *b) __attribute__((alias("real")));
static volatile int many[4];
__attribute__((constructor)) static void first(void) { many[0]++; }
__attribute__((destructor)) static void last(void) { many[1]++; }
int main(int argc, char **argv) {
    qsort(argv[0], 3, 1, known);
    return known(argv[0], argv[1]) + many[argc];
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_aliases_and_constructors(tmp_path: Path, level: str) -> None:
    unit = _built(tmp_path, "a.c", ALIASED, level)
    assert (unit.aliases, unit.started, unit.taken) == ((("known", "real"),), ("first", "last"), ("real",))
    profile = estimate("p", [unit], WL94)
    entries = {name: each.entries for name, each in profile.functions.items()}
    assert {name: entries[name] for name in ("main", "first", "last")} == {"main": 1, "first": 1, "last": 1}
    assert entries["real"] > 1
    assert {each.callee for each in calls_of(profile)} == {"qsort", "real"}


def test_functions_are_the_same_with_and_without_debug_information(tmp_path: Path) -> None:
    plain, debugged = (_built(tmp_path, "a.c", ALIASED, "-O1", flag) for flag in ("-g0", "-g"))
    assert [each.fingerprint for each in debugged.functions] == [each.fingerprint for each in plain.functions]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_recursion_without_main(tmp_path: Path, level: str) -> None:
    flags = (level, "-fno-optimize-sibling-calls", "-fno-inline")
    profile = estimate("lib", [_built(tmp_path, "r.c", RECURSIVE, *flags)], default_rates())
    _obeys(profile)
    entries: Mapping[str, float] = {name: each.entries for name, each in profile.functions.items()}
    assert set(entries) == {"odd", "even", "fib", "spin"}
    assert entries["spin"] == 1
    assert entries["fib"] > 1
    assert max(entries["odd"], entries["even"]) > 1
    assert min(entries["odd"], entries["even"]) > 0


def test_source_ir_bitcode_and_program_are_estimated_alike(tmp_path: Path) -> None:
    source = tmp_path / "w.c"
    source.write_text(EXAMPLE.read_text())
    line = parse([str(source), "-O1"], cxx=False)
    text = Builder(find_toolchain(None), Options(), line, False).ir(line.sources[0], tmp_path)
    (tmp_path / "w.ll").write_text(text)
    (tmp_path / "w.bc").write_bytes(check(text, "w.ll"))
    must("cc", "-O1", str(source), "-o", "w", cwd=tmp_path)
    expected, *others = (
        {name: list(each.block_counts) for name, each in estimate("p", units, WL94).functions.items()}
        for units in (
            [facts_of_source([str(source), "-O1"], Options())],
            [facts_of_ir(str(tmp_path / "w.ll"), Options())],
            [facts_of_ir(str(tmp_path / "w.bc"), Options())],
            list(read_program(tmp_path / "w").units.values()),
        )
    )
    assert set(expected) == {"main", "by_count"}
    assert others == [expected] * 3


def test_a_profile_of_a_run_is_no_estimate(tmp_path: Path) -> None:
    save(sample(), tmp_path / "x.trod")
    found = load(tmp_path / "x.trod")
    assert found.estimate is None
    assert not any(each.estimated for each in found.functions.values())


def test_a_graph_without_a_path_to_exit_is_refused() -> None:
    stuck = replace(function("f", "a>b b>a b>exit"), features=FunctionFeatures())
    edges = tuple(edge for edge in stuck.graph.edges if edge.dst != stuck.graph.exit)
    broken = replace(stuck, graph=Graph("f", stuck.graph.labels, edges))
    with pytest.raises(BadFile, match=r"f: its graph makes no sense \(EXIT cannot be reached\)"):
        estimate("p", [_unit(broken)], WL94)
