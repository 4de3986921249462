"""``trodden estimate``, and an estimate wherever a profile is looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import trodden
from tests.commands.calling import at_a_terminal, click, process
from tests.native.building import must
from tests.profile.sample import sample
from trodden.errors import TroddenError, UsageError
from trodden.profile.estimated import Expected, estimated
from trodden.profile.model import Estimate
from trodden.profile.store.trod import load, save
from trodden.weigh.heuristics.rates import Rates, to_document

SOURCE = """\
#include <stdlib.h>
__attribute__((noinline)) int pick(int x) {
    if (x > 40)
        abort();
    return x > 3 ? 1 : 2;
}
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < argc * 10; i++)
        sum += pick(i);
    return sum > 1000;
}
"""
OTHER = "int pick(int x);\nint more(int x) { return x ? pick(x) : 0; }\n"
MARK = "estimate with the rates calibrated; the program was not run"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sources, in the directory where the commands run."""
    (tmp_path / "a.c").write_text(SOURCE)
    (tmp_path / "b.c").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def guess(folder: Path) -> Path:
    """An estimate beside the profile of a run, ``run.trod``, of the same build."""
    must("run", "-o", "run.trod", "a.c", "-O1", "--", "x", "y", cwd=folder)
    done = process("estimate", "a.c", "-o", "guess.trod", "--", "-O1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder / "guess.trod"


def test_sources_are_one_program(folder: Path) -> None:
    done = process("estimate", "a.c", "b.c", "--report")
    assert (done.returncode, done.stdout) == (0, "")
    assert "a.c b.c  edges: 2 of 3 functions are expected to run" in done.stderr
    assert MARK in " ".join(done.stderr.split())
    assert "trodden report estimate.trod --top 20" in done.stderr
    profile = load("estimate.trod")
    assert profile.estimate == Estimate("calibrated")
    assert [profile.functions[name].entries for name in ("main", "more")] == [1, 0]
    assert profile.functions["pick"].entries > 1


def test_kinds_mix_and_one_unit_counts_once(folder: Path) -> None:
    must("cc", "-c", "a.c", "-O2", "-o", "a.o", cwd=folder)
    must("cc", "a.o", "-o", "a", cwd=folder)
    assert click("estimate", "b.c", "a.o", "a", "-o", "x.trod").exit_code == 0
    assert sorted(load("x.trod").functions) == ["main", "more", "pick"]
    assert click("estimate", "x.trod", "a", "--rates", "wl94", "-o", "y.trod").exit_code == 0
    again = load("y.trod")
    assert again.estimate == Estimate("wl94")
    assert again.program == "x.trod a"
    assert again.units == load("x.trod").units


def test_flags_are_for_the_compiler(folder: Path) -> None:
    def size(*flags: str) -> int:
        assert click("estimate", "-o", "x.trod", "a.c", *flags).exit_code == 0
        functions = load("x.trod").functions.values()
        return sum(block.size for each in functions for block in each.facts.blocks)

    assert size("--", "-O2") < size() == size("--", "-O0")
    assert size("--", "-DX") == size()
    assert click("estimate", "a.c", "--stage", "early", "-o", "x.trod").exit_code == 0
    assert {unit.stage for unit in load("x.trod").units} == {"early"}


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("none.c",), 91, "none.c: no such source"),
        (("none.ll",), 91, "none.ll: cannot be read"),
        (("none",), 91, "none: cannot be read"),
        (("bad.ll",), 92, "bad.ll: cannot read this LLVM IR"),
        (("bad.trod",), 93, "bad.trod: truncated"),
        (("a.rs",), 96, "a.rs: cannot be estimated; name C or C++ sources, LLVM IR (.ll, .bc), a profile"),
        (("libx.a",), 2, "libx.a: archives are not read; name the objects"),
        (("/bin/sh",), 96, "/bin/sh: was not built with trodden cc; build it so, or name its sources"),
        (("a.c", "-O2"), 2, "no such option -O2; flags of the compiler go after --"),
        (("a.c", "-DX=1", "-o", "x.trod"), 2, "no such option -DX=1; flags of the compiler go after --"),
        (("a.c", "--stag", "x"), 2, "Did you mean"),
        (("a.c", "--", "b.c"), 2, "b.c: only flags go after --; name sources before it"),
        (("a.c", "-o", "-"), 2, "-o -: a profile is not for standard output; name a file"),
        (("good.ll", "--", "-O2"), 2, "good.ll: nothing of it is compiled; flags after -- are for sources"),
        (("good.ll", "--stage", "early"), 2, "nothing of it is compiled; stage early is for sources"),
        (("a.c", "--rates", "/dev/zero"), 91, "/dev/zero: cannot be read: it is not a regular file"),
        (("a.c", "--toolchain", "none"), 99, "none: no such compiler; install it or choose another"),
        (("empty.c",), 2, "empty.c: no function is in there"),
        (("a.c", "-o", "/nowhere/x.trod"), 97, "/nowhere/x.trod: cannot be written"),
        (("a.c", "--rates", "none.json"), 91, "none.json: cannot be read"),
        ((), 2, "Missing argument"),
        (("probed.ll",), 2, "probed.ll: has probes already"),
    ],
)
def test_an_error_names_the_file(folder: Path, words: tuple[str, ...], status: int, message: str) -> None:
    (folder / "bad.ll").write_text("nonsense")
    (folder / "bad.trod").write_bytes(b"TRODDEN\n")
    (folder / "good.ll").write_text("define void @f() {\n  ret void\n}\n")
    (folder / "a.rs").write_text("fn main() {}")
    (folder / "libx.a").write_bytes(b"!<arch>\n")
    (folder / "empty.c").write_text("")
    if "probed.ll" in words:
        must("cc", "-S", "-emit-llvm", "a.c", "-o", "probed.ll", cwd=folder)
    save(sample(), "estimate.trod")
    done = process("estimate", *words)
    assert done.returncode == status
    assert done.stderr.startswith("trodden: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert load("estimate.trod") == sample()


def test_what_the_compiler_refuses_has_its_status(folder: Path) -> None:
    (folder / "bad.c").write_text("int f(")
    done = process("estimate", "bad.c")
    assert done.returncode == 1
    assert "bad.c:1:" in done.stderr
    assert not (folder / "estimate.trod").exists()
    with pytest.raises(TroddenError, match=r"compiling bad.c failed with status 1"):
        trodden.estimate("bad.c")


def test_from_python(folder: Path) -> None:
    profile = trodden.estimate("a.c", Path("b.c"), flags=["-O1"], rates="wl94", output="x.trod")
    assert profile.estimate == Estimate("wl94")
    assert trodden.load("x.trod") == profile
    assert trodden.estimate("x.trod").estimate == Estimate("calibrated")


def test_python_hears_what_is_wrong(folder: Path) -> None:
    with pytest.raises(UsageError, match="stage='x': choose late or early"):
        trodden.estimate("a.c", stage="x")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="nothing to estimate; name C or C\\+\\+ sources"):
        trodden.estimate()


def test_several_programs_in_one_estimate_have_a_note(folder: Path) -> None:
    (folder / "c.c").write_text(SOURCE.replace("pick", "choose"))
    assert trodden.estimate("a.c", "b.c").messages == ()
    assert trodden.estimate("a.c", "c.c", output="x.trod").messages == (
        "2 functions are called main: several programs were estimated as one",
    )
    assert "\nnote\t2 functions are called main" in click("report", "x.trod").output


def test_weights_that_are_misspelt(folder: Path) -> None:
    for words in (("show", "a.c", "-f", "pick"), ("run", "a.c")):
        done = process(words[0], "--weights", "estimat", *words[1:])
        assert done.returncode == 91
        assert done.stderr == (
            "trodden: estimat: cannot be read: No such file or directory; "
            "weights are a profile, estimate or nesting; did you mean estimate?\n"
        )


def test_without_lines_there_is_no_source_to_show(folder: Path) -> None:
    (folder / "good.ll").write_text("define void @f() {\n  ret void\n}\n")
    trodden.estimate("good.ll", output="x.trod")
    done = process("annotate", "x.trod")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "trodden: x.trod: no source lines are known; build with -g to have them\n"


def test_reports_say_that_it_is_an_estimate(guess: Path) -> None:
    plain = click("report", guess).output
    assert plain.startswith("#estimate\trates\n")
    assert "\nestimate\tcalibrated\n" in plain
    assert json.loads(click("report", guess, "--json").output)["estimate"] == {"rates": "calibrated"}
    shown = at_a_terminal("report", str(guess))
    assert MARK in shown
    assert "Functions by IR instructions expected" in shown
    of_run = click("report", "run.trod")
    assert "estimate" not in of_run.output
    assert "estimate" not in json.loads(click("report", "run.trod", "--json").output)


def test_sources_say_that_it_is_an_estimate(guess: Path) -> None:
    first, second, *rows = click("annotate", guess).output.splitlines()
    assert first.endswith("a.c")
    assert second == MARK
    assert "#####" not in "".join(rows)
    assert any(" %" in row or "% →" in row for row in rows)


def test_a_function_that_nobody_calls_is_not_said_to_have_never_run(folder: Path) -> None:
    assert click("estimate", "a.c", "b.c", "-o", "x.trod").exit_code == 0
    rows = click("annotate", "x.trod", "more").output.splitlines()
    assert rows[1] == MARK
    assert rows[2].split()[0] == "0"
    assert rows[3].strip() == "line 2: not expected to be executed"


def test_exports_say_that_it_is_an_estimate(guess: Path) -> None:
    document = json.loads(click("export", guess).output)
    assert document["estimate"] == {"rates": "calibrated"}
    main = next(each for each in document["functions"] if each["name"] == "main")
    assert main["entries"] == 1
    assert all(edge["count"] == edge["per_call"] for edge in main["edges"])
    assert "estimate" not in json.loads(click("export", "run.trod").output)
    lcov = click("export", guess, "--format", "lcov").output
    assert lcov.startswith(f"# {MARK}\nTN:\n")
    counts = [line.rsplit(",", 1)[-1] for line in lcov.splitlines() if line.startswith("DA:")]
    assert counts
    assert all(count.isdigit() and int(count) for count in counts)
    assert f'label="{MARK}";' in click("export", guess, "--format", "dot").output
    assert f'label="pick\\n{MARK}";' in click("export", guess, "--format", "dot", "--function", "pick").output


def test_drawings_say_that_it_is_an_estimate(guess: Path) -> None:
    text = click("show", guess, "-f", "pick").output
    assert text.splitlines()[0].endswith("a.c:2), estimated")
    assert "; expected frequencies" in text
    assert "), estimated</title>" in click("show", guess, "-f", "pick", "--format", "svg").output
    assert "; counts" in click("show", "run.trod", "-f", "pick").output
    assert "estimated" in click("show", "run.trod", "-f", "pick", "--weights", guess).output


def test_what_is_about_runs_refuses_it(guess: Path) -> None:
    for verb, advice in (
        ("coverage", "run it, with --profile paths for its paths"),
        ("stats", "run it with --profile paths"),
    ):
        done = process(verb, str(guess))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith(f": is an estimate, no profile of a run; {advice}\n")
    path = process("annotate", str(guess), "--path", "1")
    assert path.stderr.endswith(": is an estimate, no profile of a run; run it with --profile paths\n")
    folded = process("export", str(guess), "--format", "folded")
    assert folded.stderr.endswith(": is an estimate, no profile of a run; run it with --call-paths\n")
    assert process("report", str(guess), "--process", "1").stderr.endswith("; leave --process out\n")


@pytest.mark.parametrize("combine", ["sum", "evidence"])
def test_a_merge_leaves_it_out(guess: Path, combine: str) -> None:
    done = process("merge", "run.trod", "guess.trod", "-o", "x.trod", "--combine", combine)
    assert done.returncode == 101
    assert "guess.trod: is an estimate, no profile of a run; merge profiles of runs (left out)" in done.stderr
    assert load("x.trod").functions["pick"].entries == load("run.trod").functions["pick"].entries
    alone = process("merge", "guess.trod", "-o", "y.trod", "--combine", combine)
    assert alone.returncode == 93
    assert not Path("y.trod").exists()


def test_a_run_is_compared_by_the_shares_of_its_branches(guess: Path) -> None:
    plain = click("diff", guess, "run.trod").output
    assert "\n#estimate\trun\trates\nestimate\tA\tcalibrated\n" in plain
    assert "estimate" not in click("diff", "run.trod", "run.trod").output
    assert "\ncommon\t" not in plain
    found = json.loads(click("diff", guess, "run.trod", "--json").output)
    assert found["estimates"] == {"first": {"rates": "calibrated"}}
    assert {each["kind"] for each in found["differences"]} == {"expects"}
    first = found["differences"][0]
    assert set(first["first"]) == {"share"}
    assert set(first["second"]) == {"count", "of"}
    assert "A expects " in first["sentence"]
    assert ", in B it was " in first["sentence"]
    back = json.loads(click("diff", "run.trod", guess, "--json").output)
    assert back["estimates"] == {"second": {"rates": "calibrated"}}
    assert [each["branch"] for each in back["differences"]] == [
        each["branch"] for each in found["differences"]
    ]
    shown = at_a_terminal("diff", str(guess), "run.trod")
    assert f"A is an {MARK}; shares of branches are compared, not counts" in shown


def test_a_run_that_deviates_is_reported(guess: Path) -> None:
    wrong = Rates("wrong", {"ends-badly": 0.01})
    Path("wrong.json").write_text(json.dumps(to_document(wrong)))
    assert click("estimate", "a.c", "--rates", "wrong.json", "-o", "x.trod", "--", "-O1").exit_code == 0
    shown = at_a_terminal("diff", "x.trod", "run.trod")
    assert "A is an estimate with the rates wrong; the program was not run" in shown
    assert "Branches that deviate from the estimate" in shown
    assert "A expects 1.0%, in B it was 100.0% (30 of 30)" in " ".join(shown.split())


def test_two_estimates_are_compared_without_chance(guess: Path) -> None:
    assert "No difference" in at_a_terminal("diff", str(guess), str(guess))
    assert click("diff", guess, guess, "--exit-code").exit_code == 0
    profile = load(guess)
    expected = [
        Expected(float(each.entries), [1.0] * len(each.facts.graph.edges))
        for each in profile.functions.values()
    ]
    save(estimated("x", profile.units, expected, Estimate("flat")), "flat.trod")
    shown = at_a_terminal("diff", str(guess), "flat.trod")
    assert "B is an estimate with the rates flat" in shown
    assert "Branches that deviate from the estimate" in shown
    assert "chance" not in shown
    found = json.loads(click("diff", guess, "flat.trod", "--json").output)
    assert all(each["evidence"] == 0 for each in found["differences"])


def test_probes_are_placed_by_an_estimate(folder: Path) -> None:
    def entries(*own: str) -> list[float]:
        must("run", "-o", "x.trod", *own, "a.c", "-O1", "--", "x", cwd=folder)
        profile = load("x.trod")
        assert profile.estimate is None
        return [count for each in profile.functions.values() for count in each.block_counts]

    expected = entries()
    assert expected == entries("--weights", "estimate") == entries("--weights=nesting")
    assert click("estimate", "a.c", "-o", "guess.trod", "--", "-O1").exit_code == 0
    assert entries("--weights", "guess.trod") == expected


def test_show_weighs_by_an_estimate(folder: Path) -> None:
    def shown(*words: str) -> str:
        return click("show", "a.c", "-f", "pick", *words, "--", "-O0").output

    assert shown("--weights", "nesting") == shown()
    assert shown("--weights", "estimate") != shown()
    must("run", "-o", "x.trod", "a.c", "-O0", cwd=folder)
    counted = click("show", "x.trod", "-f", "pick", "--weights", "estimate").output
    assert "; expected frequencies" in counted


def test_notes_of_older_builds_are_told(folder: Path) -> None:
    save(sample(str(folder)), "old.trod")
    assert click("estimate", "old.trod", "-o", "x.trod").exit_code == 0
    (note,) = load("x.trod").messages
    assert note.startswith("2 of 2 functions were built by an earlier trodden")
    assert f"note\t{note}\n" in click("report", "x.trod").output
