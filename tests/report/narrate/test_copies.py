"""Branches that were compiled several times or joined: which copy is meant, and what is certain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import trodden
from tests.profile.making import Place
from tests.profile.walking import path_profile
from tests.report.pathing import facts_of
from trodden.errors import UsageError
from trodden.profile.model import Profile
from trodden.profile.select import select
from trodden.report.narrate.copies import BranchCopies
from trodden.report.narrate.paths import Describer
from trodden.report.views import coverage, difference

PROGRAM = Path(__file__).parent / "programs" / "copies.c"


class Runs:
    """Builds and runs the program, each variant once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, ...], Profile] = {}

    def file(self, level: str, *arguments: str, kind: str = "paths") -> Path:
        file = self._folder / f"{' '.join((level, kind, *arguments))}.trod"
        if not file.exists():
            words = ["run", "--quiet", "--profile", kind, "-o", str(file)]
            self.trodden(*words, str(PROGRAM), "-g", level, "-Wno-everything", "--", *arguments)
        return file

    def trodden(self, *words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "trodden", *words]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            cwd=self._folder,
            check=True,
            timeout=600,
        )
        return done.stdout

    def __call__(self, level: str, *arguments: str, kind: str = "paths") -> Profile:
        words = level, kind, *arguments
        if words not in self._known:
            self._known[words] = trodden.load(self.file(level, *arguments, kind=kind))
        return self._known[words]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("copies"))


def _next_inputs(profile: Profile, function: str) -> list[str]:
    report = coverage.report_coverage([profile], ["a.trod"], function)
    (found,) = report.found.functions
    return [coverage.sentence(report.branches, found.function, each, short=True) for each in found.near]


def _differences(first: Profile, second: Profile) -> list[str]:
    report = difference.report_difference((first, second), ("a.trod", "b.trod"))
    return [difference.sentence(report, each, short=True) for _, each in report.shown]


def test_what_another_copy_of_a_branch_did_was_not_never_done(built: Runs) -> None:
    sentences = _next_inputs(built("-O2", "5", "200"), "three")
    if_large = "at copies.c:14 `if (v[i] > 100)`"
    assert sentences[:3] == [
        f"{if_large} (copy 1 of 3) branched only to line 14 (v[i] > 100: false) in this copy,"
        " and to line 15 (v[i] > 100: true) only in other copies",
        f"{if_large} (copy 2 of 3) branched only to line 15 (v[i] > 100: true) in this copy,"
        " and to line 14 (v[i] > 100: false) only in other copies",
        f"{if_large} (copy 3 of 3) branched only to line 16 (v[i] > 100: false) in this copy,"
        " and to line 15 (v[i] > 100: true) only in other copies",
    ]


def test_the_call_that_was_inlined_is_named(built: Runs) -> None:
    never = [each for each in _next_inputs(built("-O2", "5", "200"), "main") if "x < 0" in each]
    assert [each.partition(" branched")[0] for each in never] == [
        "at copies.c:7 `if (x < 0)` (inlined at line 46)",
        "at copies.c:7 `if (x < 0)` (inlined at line 47)",
    ]
    assert all("never to copies.c:8 (x < 0: true)" in each for each in never)
    one = [each for each in _next_inputs(built("-O2", "-5", "2"), "main") if "x < 0" in each]
    assert any(each.endswith("to copies.c:8 (x < 0: true) only in other copies") for each in one)
    assert not any("never to copies.c:8" in each for each in one)


def test_a_path_through_an_unrolled_loop_names_each_outcome(built: Runs) -> None:
    profile = built("-O2", "5", "200")
    three = profile.functions["three"]
    (path,) = [path for path in three.paths or () if path.count]
    described = Describer(profile).describe(three, path).steps_text()
    assert described == "14: v[i] > 100: false → 14: v[i] > 100: true → 14: v[i] > 100: false"


def test_each_fact_is_one_difference(built: Runs) -> None:
    """What one run did and the other did not, what follows from it, and the same seen from the other run."""
    for kind in ("paths", "edges"):
        first, second = (built("-O2", *words, kind=kind) for words in (("5", "200"), ("-5", "2")))
        found = [each for each in _differences(first, second) if "x < 0" in each or "v[i]" in each]
        assert len(found) == 2
        assert not any("only successor" in each for each in _differences(first, second))
        (large,) = [each for each in found if "v[i]" in each]
        assert "(copy 2 of 3) B branched to line 14 (v[i] > 100: false)" in large
        assert large.endswith("only to line 15 (v[i] > 100: true) (but it did in another copy)")
        (negative,) = [each for each in found if "x < 0" in each]
        assert "(inlined at line 46) B branched to copies.c:8 (x < 0: true)" in negative
        assert "copy)" not in negative


def test_a_condition_that_was_joined_with_another_may_have_been_true(built: Runs) -> None:
    """``a >= 0 == flag`` is true in two of four calls, but the only branch also needs ``b > 3``."""
    sentences = _next_inputs(built("-O2", "5", "200"), "nested")
    assert sentences
    assert not any("flag: true" in each or "flag: false" in each for each in sentences)


def test_single_tests_of_code_that_was_not_optimised_are_named(built: Runs) -> None:
    profile = built("-O0", "5", "200")
    function, describer = profile.functions["one_line"], Describer(profile)
    said = {
        step.words()
        for path in function.paths or ()
        if path.count
        for step in describer.describe(function, path).steps
        if step.outcome is not None
    }
    assert said == {
        "27: k-- <= 0: true",
        "27: k-- <= 0: false",
        "28: !k: true",
        "28: !k: false",
        "29: i < k: true",
        "29: i < k: false, exits the loop",
        "30: i % 2: true",
        "30: i % 2: false",
        "32: w > 50: true",
        "32: w > 50: false",
    }


def test_a_branch_that_a_macro_may_hide_is_not_that_of_the_condition_on_its_line(built: Runs) -> None:
    profile = built("-O0", "5", "200")
    function, describer = profile.functions["in_macro"], Describer(profile)
    edges = [edge for path in function.paths or () if path.count for edge in path.edges]
    steps = [describer.decision(function, edge) for edge in edges]
    texts = {step.text for step in steps if step is not None}
    assert texts == {"FOREACH(i, 3) if (i == k) k += 2;"}


@pytest.mark.parametrize("format", ["table", "tsv", "json", "markdown"])
def test_a_statement_on_a_path_has_one_semicolon(built: Runs, format: str) -> None:
    """Steps that are statements end in a semicolon of their own."""
    file = str(built.file("-O0", "5", "200"))
    printed = built.trodden("report", file, "--function", "one_line", "--top", "20", "--format", format)
    assert "!k: true" in " ".join(printed.split())
    assert ";;" not in printed.replace(" ", "")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (
            "check",
            f"it exists only inlined into main at {PROGRAM}:46 and 1 more; name that function,"
            " or build with -O0 or --stage early",
        ),
        (
            "chekc",
            "see trodden report for the names; a function that was inlined is part of those that call it",
        ),
    ],
)
def test_a_name_without_a_function_may_be_one_that_was_inlined(built: Runs, pattern: str, why: str) -> None:
    with pytest.raises(UsageError) as error:
        select(built("-O2", "5", "200"), pattern)
    assert str(error.value) == f"no function matches {pattern!r}; {why}"


def test_call_sites_of_inlined_calls_in_inlined_code(tmp_path: Path) -> None:
    source = "int f() {\n  g();\n}\nvoid g() {\n  h();\n}\nvoid h() {\n  if (x)\n    y();\n}\n"
    (tmp_path / "a.c").write_text(source)
    lines: dict[str, list[Place]] = {"a": [(0, 8, 2)], "y": [(0, 9, 2)], "n": [3]}
    facts = facts_of("f", "a>y a>n y>n n>exit", lines, inlined=[2, (0, 5, 1)])
    profile = path_profile([facts], {"f": {"a n": 1}}, [f"{tmp_path}/a.c"])
    copy = BranchCopies(Describer(profile)).copy(profile.functions["f"], 0)
    assert copy.words == " (inlined at a.c:5, which is inlined at line 2)"
