"""Profiles made from Python, without the command line."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import trodden
from tests.native.building import must
from trodden.errors import BuildFailed, TroddenError, UsageError
from trodden.native.options.declarations import CuttingRule
from trodden.plan.probes import AddTripCount
from trodden.plan.routes import PathEnd, PathStart

SOURCE = """\
#include <stdlib.h>
__attribute__((noinline)) static int sign(int x) {
    if (x < 0)
        return -1;
    return x > 0;
}
__attribute__((noinline)) static int sum(int n) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        if (sign(i - 2) > 0)
            total += i;
        else
            total -= 1;
    }
    return total;
}
int main(int argc, char **argv) {
    return sum(argc > 1 ? atoi(argv[1]) : 0);
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "sum.c").write_text(SOURCE)
    return tmp_path / "sum.c"


def test_paths(source: Path, tmp_path: Path) -> None:
    run = trodden.run(source, "-O0", args=["5"], profile="paths", output=tmp_path / "x.trod")
    assert run.status == 4
    assert run.profile.kind == "paths"
    sign, total = run.profile.functions["sign"], run.profile.functions["sum"]
    assert sign.paths is not None
    assert [path.count for path in sign.paths] == [3, 2]
    assert {(path.starts, path.ends) for path in sign.paths} == {(PathStart.ENTRY, PathEnd.EXIT)}
    for path in sign.paths:
        names = [sign.blocks[block].id for block in path.blocks]
        assert names[0] == sign.blocks[0].id
        assert len(path.edges) == len(path.blocks)
    assert total.paths is not None
    assert sum(path.count for path in total.paths) == 6
    assert all(path.cycles is None and path.context == 0 for path in total.paths)
    assert trodden.load(tmp_path / "x.trod").functions["sum"].paths == total.paths


def test_paths_in_context_with_their_time_cut_short_of_the_default(source: Path) -> None:
    run = trodden.run(source, "-O0", args=["5"], profile="paths", context=True, metric="cycles")
    paths = run.profile.functions["sum"].paths
    assert paths is not None
    assert any(path.context for path in paths)
    assert all(path.cycles is not None and path.cycles > 0 for path in paths)
    choices: list[tuple[int | str, CuttingRule | None]] = [(1, "node"), ("none", None)]
    for most, rule in choices:
        facts = trodden.run(source, "-O0", profile="paths", max_paths=most, cut_by=rule).profile
        plan = facts.functions["sum"].facts.plan.paths
        assert plan is not None
        assert bool(plan.cuts) == (most == 1)


def test_edges_have_no_paths(source: Path) -> None:
    run = trodden.run(source, args=["5"], profile="edges", only="sum")
    assert [(name, each.paths) for name, each in run.profile.functions.items()] == [("sum", None)]


def test_a_durable_build_has_no_loop_that_tells_its_turns_when_it_is_left(tmp_path: Path) -> None:
    source = tmp_path / "spin.c"
    source.write_text("volatile int x; int main(void) { for (int i = 0; i < 900; i++) x += i; return 0; }")
    for durable in (False, True):
        run = trodden.run(source, "-O1", durable=durable)
        main = run.profile.functions["main"]
        probes = [probe for probes in main.facts.plan.on_edges.values() for probe in probes]
        assert any(isinstance(probe, AddTripCount) for probe in probes) != durable
        assert 899 in main.edge_counts


def test_functions_stay_functions_once_they_were_called(source: Path, tmp_path: Path) -> None:
    for _ in range(2):
        run = trodden.run(source, output=tmp_path / "x.trod")
        merged = trodden.merge(tmp_path / "x.trod")
        estimated = trodden.estimate(tmp_path / "x.trod")
        assert run.profile.functions.keys() == merged.profile.functions.keys() == estimated.functions.keys()


def test_what_the_compiler_says_is_in_the_exception(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("int main(void) { return undeclared; }\n")
    for build in (trodden.run, trodden.estimate):
        with pytest.raises(BuildFailed) as raised:
            build(bad)
        assert "bad.c:1:25: error: use of undeclared identifier 'undeclared'" in str(raised.value)
        assert raised.value.diagnostics in capfd.readouterr().err
    bad.write_text("int other(void); int main(void) { return other(); }\n")
    with pytest.raises(BuildFailed, match="undefined symbol: other"):
        trodden.run(bad)


def test_short_texts_of_long_objects(source: Path) -> None:
    run = trodden.run(source, profile="paths")
    (name, function), *_ = run.profile.functions.items()
    for each in (run, run.profile, run.profile.units, function, function.facts):
        assert len(repr(each)) < 400
        assert "\n" not in repr(each)
    assert repr(run.profile).startswith("<Profile '")
    assert f"functions={len(run.profile.functions)}" in repr(run.profile)
    table = ElementTree.fromstring(run.profile._repr_html_())
    assert [head.text for head in table.iter("th")] == [
        *("blocks executed", "entries", "paths", "function", "location")
    ]
    assert len(list(table.iter("tr"))) == 1 + len(run.profile.functions)
    blocks = ElementTree.fromstring(function._repr_html_())
    assert name in "".join(blocks.itertext())
    assert len(list(blocks.iter("tr"))) == 1 + min(len(function.blocks), 20)


def test_what_makes_no_sense(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^max_paths: goes with profile='paths'$"):
        trodden.run(source, max_paths=7)
    with pytest.raises(UsageError, match=r"^max_paths=0: a number of paths"):
        trodden.run(source, profile="paths", max_paths=0)
    with pytest.raises(UsageError, match=r"^metric='time': choose cycles or none$"):
        trodden.run(source, profile="paths", metric="time")  # type: ignore[arg-type]
    must("cc", source, "-o", "sum", cwd=tmp_path)
    with pytest.raises(TroddenError, match="sum is built already"):
        trodden.run(tmp_path / "sum", profile="paths")
