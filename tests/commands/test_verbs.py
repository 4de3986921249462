"""The verbs that look at results, through click and as a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import pytest

import trodden
from tests.commands.calling import ENVIRONMENT, at_a_terminal, click, process
from tests.profile.making import (
    CODE_AT,
    counts_of,
    elf_bytes,
    function,
    pack_unit,
    profile_of,
    raw_bytes,
    sites_bytes,
    unit_of,
)
from tests.profile.sample import FLOWS, SOURCE, sample, write_sources
from tests.report.pathing import path_sample
from trodden.commands import main as main_module
from trodden.commands.main import main
from trodden.native.options.declarations import Options
from trodden.profile.store.trod import save
from trodden.program.facts import UnitFacts


@pytest.fixture
def profile(tmp_path: Path) -> str:
    write_sources(tmp_path)
    save(sample(str(tmp_path)), tmp_path / "x.trod")
    return str(tmp_path / "x.trod")


def test_report_for_programs(profile: str) -> None:
    result = click("report", profile)
    assert result.exit_code == 0
    assert "function\tmain\t" in result.output
    assert len([line for line in result.output.splitlines() if line.startswith("block\t")]) == 13
    limited = click("report", profile, "--top", "3", "--function", "ma*").output.splitlines()
    assert len([line for line in limited if line.startswith("block\t")]) == 3


def test_report_as_json(profile: str) -> None:
    document = json.loads(click("report", profile, "--json", "--top", "1").output)
    assert [row["count"] for row in document["blocks"]] == [1001]


def test_report_for_a_person(profile: str) -> None:
    text = at_a_terminal("report", profile, "--top", "2")
    assert "Hottest blocks" in text
    assert "1,001" in text
    assert "\t" not in text


def test_annotate(profile: str, tmp_path: Path) -> None:
    result = click("annotate", profile, "a.c")
    assert result.exit_code == 0
    assert "     1001      5      for (int i = 0; i < 1000; i++)\n" in result.output
    assert "line 6: 90% →7 900, 10% →9 100" in result.output
    (tmp_path / "a.c").write_text(SOURCE.replace("1000", "1001"))
    changed = process("annotate", profile)
    assert changed.returncode == 98
    assert changed.stderr.startswith(f"trodden: {tmp_path}/a.c: has changed since the program was built")
    assert "a.h" in changed.stdout
    assert process("annotate", profile, "--force").returncode == 0
    (tmp_path / "a.h").unlink()
    both = process("annotate", profile)
    assert both.returncode == 91
    named = [line.split(":")[1].strip() for line in both.stderr.splitlines()]
    assert named == [f"{tmp_path}/a.c", f"{tmp_path}/a.h"]


@pytest.mark.parametrize("form", ["json", "lcov", "dot"])
def test_export(profile: str, tmp_path: Path, form: str) -> None:
    shown = click("export", profile, "--format", form).output
    assert "main" in shown
    assert "never" not in click("export", profile, "--format", form, "--function", "main").output
    out = tmp_path / "out"
    assert click("export", profile, "--format", form, "-o", str(out)).output == ""
    assert out.read_text() == shown
    assert click("export", profile, "--format", form, "-o", "-").output == shown


def test_collect(tmp_path: Path) -> None:
    unit = sample(str(tmp_path)).units[0]
    program = tmp_path / "prog"
    sites = sites_bytes(unit, [(CODE_AT + 1, 0, False)])
    program.write_bytes(elf_bytes({".trodden": pack_unit(unit), ".trodden_sites": sites}))
    raws = []
    for number in range(2):
        raws.append(str(tmp_path / f"{number}.raw"))
        counted = [(unit.id, 0, counts_of(unit, FLOWS))]
        module, started = (0, "/gone/prog"), 1_700_000_000_000_000_000 + number
        Path(raws[-1]).write_bytes(raw_bytes([module], counted, ending=1 - number, started=started))
    out = tmp_path / "x.trod"
    result = process("collect", *raws, "-o", str(out), "--program", str(program))
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == f"trodden: note: process 42.1: {NOT_BY_ITSELF}\n"
    edges = {(edge.src, edge.dst): edge.count for edge in trodden.load(out).functions["main"].edges}
    assert edges["body", "then"] == 1800
    assert process("collect", *raws).returncode == 91


def test_collect_leaves_out_what_is_damaged(tmp_path: Path) -> None:
    unit = sample(str(tmp_path)).units[0]
    program = tmp_path / "prog"
    program.write_bytes(elf_bytes({".trodden": pack_unit(unit)}))
    folder = tmp_path / "raws"
    folder.mkdir()
    whole = raw_bytes([(0, str(program))], [(unit.id, 0, counts_of(unit, FLOWS))])
    (folder / "1.raw").write_bytes(whole)
    (folder / "2.raw").write_bytes(whole[:-8])
    out = tmp_path / "x.trod"
    result = process("collect", str(folder), "-o", str(out))
    assert (result.returncode, result.stdout) == (101, "")
    assert (
        f"note: {folder}/2.raw: truncated: its end is missing; run the program again (left out)"
        in result.stderr
    )
    assert f"{out}: written without 1 raw file, named above" in result.stderr
    kept = trodden.load(out)
    assert kept.functions["main"].block_counts[2] == 1000
    assert process("collect", str(folder / "2.raw"), "-o", str(out)).returncode == 93
    assert trodden.load(out) == kept


def test_show_a_profile(profile: str) -> None:
    text = click("show", profile, "-f", "main").output
    assert "counts" in text.splitlines()[1]
    assert "  → body   1,000  tree" in text
    dot = click("show", profile, "-f", "main", "--format", "dot").output
    assert dot.startswith("digraph trodden {")
    picture = ElementTree.fromstring(click("show", profile, "-f", "main", "--format", "svg").output)
    assert picture.tag.endswith("svg")
    for scheme in ("edges", "blocks-by-edges", "blocks-by-blocks", "every-block"):
        assert " counters (" in click("show", profile, "-f", "main", "--counters", scheme).output
    every = click("show", profile, "-f", "main", "--counters", "every-block").output
    assert "9 counters (every-block)" in every


NOT_BY_ITSELF = "the program did not end by itself; counts are those until then"
GRAPH = "graph loop\n  a -> b\n  b -> c, d\n  c -> b\n  d -> EXIT\n"


def test_show_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "x.cfg"
    path.write_text(GRAPH)
    text = click("show", str(path)).output
    assert "2 counters (eprof); expected frequencies" in text
    assert "  → c     9  tree" in text
    path.write_text(GRAPH.replace("c, d", "c 5, d 3").replace("-> b", "-> b 5").replace("EXIT", "EXIT 3"))
    assert "  → c     5  tree" in click("show", str(path)).output


def test_show_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[tuple[list[str], Options]] = []

    def facts_of_source(words: list[str], options: Options) -> UnitFacts:
        compiled.append((words, options))
        return unit_of(function("main", "a>b b>b b>exit", {"a": [3], "b": [4, 5]}), function("f", "a>exit"))

    monkeypatch.setattr("trodden.native.driver.describe.facts_of_source", facts_of_source, raising=False)
    text = click("show", "prog.c", "-f", "main", "--", "-O2", "-DX").output
    assert text.startswith("main (/src/a.c:1)\n2 blocks, 3 edges, ")
    assert "b  10  lines 4-5\n" in text
    assert compiled == [(["prog.c", "-O2", "-DX"], Options())]
    click("show", "prog.c", "-f", "main", "--profile", "paths", "--max-paths", "none", "--context")
    assert compiled[1] == (["prog.c"], Options(profile="paths", max_paths=None, context=True))


def test_show_the_paths_of_a_graph(tmp_path: Path) -> None:
    path = tmp_path / "x.cfg"
    path.write_text(GRAPH)
    text = click("show", str(path), "--profile", "paths").output
    assert "\n4 paths, 1 back edge, 0 cuts\n" in text
    assert "\n  1  entry      a b d  exit\n" in text
    assert "in context" in click("show", str(path), "--profile", "paths", "--context").output
    cut = click("show", str(path), "--profile", "paths", "--max-paths", "1", "--cut-by", "node").output
    assert ", 0 cuts" not in cut
    assert "counters (vprof-edges)" in click("show", str(path), "--profile", "blocks").output


def test_show_the_paths_of_a_profile(tmp_path: Path, profile: str) -> None:
    assert "(paths); counts\n" in click("show", profile, "-f", "main", "--profile", "paths").output
    made = path_sample(tmp_path)
    save(made, tmp_path / "paths.trod")
    words = ["show", str(tmp_path / "paths.trod"), "-f", "main"]
    own = click(*words).output
    assert own == click(*words, "--profile", "paths").output
    walked = {path.id: path.count for path in made.functions["main"].paths or ()}
    rows = [line.split() for line in own.partition("\npaths\n")[2].splitlines()]
    assert {int(row[0]): int(row[1]) for row in rows if row[1] != "0"} == walked
    assert "\n8 paths, 1 back edge, 0 cuts" in own
    assert "in context" in click(*words, "--profile", "paths", "--context").output


def test_show_weighs_by_an_earlier_run(tmp_path: Path) -> None:
    (tmp_path / "x.cfg").write_text(GRAPH)
    unit = unit_of(function("loop", "a>b b>c b>d c>b d>exit"))
    save(
        profile_of(unit, {"loop": {"a>b": 2, "b>c": 40, "b>d": 2, "c>b": 40, "d>exit": 2}}),
        tmp_path / "x.trod",
    )
    text = click("show", str(tmp_path / "x.cfg"), "--weights", str(tmp_path / "x.trod")).output
    assert "  → c     40  tree" in text
    (tmp_path / "x.cfg").write_text(GRAPH.replace("c, d", "d, c"))
    assert main(["show", str(tmp_path / "x.cfg"), "--weights", str(tmp_path / "x.trod")]) == 95
    (tmp_path / "x.cfg").write_text(GRAPH.replace("loop", "other"))
    assert main(["show", str(tmp_path / "x.cfg"), "--weights", str(tmp_path / "x.trod")]) == 2


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["report", "gone.trod"], 91, "trodden: gone.trod: cannot be read: No such file or directory"),
        (["report", "{profile}", "--function", "nix"], 2, "trodden: no function matches 'nix'"),
        (["report", "{profile}", "--top", "0"], 2, "trodden: --top 0: needs a whole number, 1 or more"),
        (["diff"], 2, "trodden: Missing argument 'A'; see trodden diff --help"),
        (["nonsense"], 2, "trodden: No such command 'nonsense'; see trodden --help"),
        (["export", "{profile}", "--format", "xml"], 2, "trodden: Invalid value for '--format'"),
        (["export", "{source}", "--format", "json"], 93, "a.c: not a trodden record"),
        (["export", "{profile}", "--format", "json", "-o", "/nowhere/x"], 97, "/nowhere/x: cannot be"),
        (["show", "{profile}"], 2, "holds several functions, name one with -f: main, never"),
        (["show", "{profile}", "-f", "nix"], 2, "holds no function 'nix'; it has main, never"),
        (["show", "gone.cfg"], 91, "trodden: gone.cfg: cannot be read"),
        (["show", "{profile}", "-f", "main", "--context"], 2, "--context: goes with --profile=paths"),
        (["show", "{profile}", "--profile", "paths", "--max-paths", "0"], 2, "--max-paths=0: a number of"),
        (["show", "{profile}", "--profile", "paths", "--counters", "edges"], 2, "paths need no counters"),
        (["collect", "{source}"], 93, "a.c: not a raw file of an instrumented program"),
    ],
)
def test_statuses_and_messages(
    profile: str, capsys: pytest.CaptureFixture[str], arguments: Sequence[str], status: int, message: str
) -> None:
    places = {"profile": profile, "source": str(Path(profile).parent / "a.c")}
    assert main([argument.format(**places) for argument in arguments]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"trodden, version {trodden.__version__}\n"
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for verb in ("annotate", "c++", "cc", "collect", "export", "report", "run", "show"):
        assert f"\n  {verb} " in text
    for verb in ("annotate", "collect", "export", "report", "show"):
        assert main([verb, "--help"]) == 0
        assert f"Usage: trodden {verb}" in capsys.readouterr().out
    assert main([]) == 2
    assert "Usage: trodden" in capsys.readouterr().err


def test_help_is_a_verb_too(capsys: pytest.CaptureFixture[str]) -> None:
    for short, long in (
        (["-V"], ["--version"]),
        (["help"], ["--help"]),
        (["help", "report"], ["report", "--help"]),
        (["help", "run"], ["run", "--help"]),
        (["help", "cc"], ["cc", "--trodden-help"]),
    ):
        assert main(short) == 0
        text = capsys.readouterr().out
        assert main(long) == 0
        assert text == capsys.readouterr().out
    assert main(["help", "repotr"]) == 2
    assert "did you mean trodden report?" in capsys.readouterr().err


def test_the_profile_that_run_writes_is_shown_if_none_is_named(
    profile: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(profile).parent)
    for verb in ("report", "annotate", "coverage", "stats", "export"):
        assert main([verb]) == 91
        assert capsys.readouterr() == (
            "",
            "trodden: name a profile; there is no trodden.trod here, which trodden run writes by default\n",
        )
        assert main([verb, "--help"]) == 0
        capsys.readouterr()
    Path(profile).rename("trodden.trod")
    for verb in ("report", "annotate", "coverage", "export"):
        assert main([verb, "trodden.trod"]) == 0
        named = capsys.readouterr().out
        assert main([verb]) == 0
        assert capsys.readouterr().out == named != ""


def test_a_function_is_shown_by_a_glob(profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", profile, "-f", "mai?"]) == 0
    assert capsys.readouterr().out.startswith("main (")
    assert main(["show", profile, "-f", "*"]) == 2
    assert "'*' matches several functions, name one of them: main, " in capsys.readouterr().err


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    functions = [function(f"f{number}", "a>b b>c c>exit") for number in range(3000)]
    save(profile_of(unit_of(*functions), {}), tmp_path / "x.trod")
    for verb in (["report"], ["export", "--format", "json"]):
        command = [sys.executable, "-m", "trodden", *verb, str(tmp_path / "x.trod")]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            assert running.stdout.readline()
            running.stdout.close()
            assert running.stderr.read() == b""
        assert running.returncode == 0


def test_a_full_disk_behind_standard_output(profile: str) -> None:
    command = [sys.executable, "-m", "trodden", "report", profile]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True, check=False
        )
    assert done.returncode == 97
    assert done.stderr == "trodden: standard output: cannot be written: No space left on device\n"


def test_compilers_get_their_arguments_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    from trodden.commands import cc, run

    seen: list[object] = []

    def compiler(argv: Sequence[str], cxx: bool) -> int:
        seen.append((list(argv), cxx))
        return 3

    def runner(argv: Sequence[str]) -> int:
        seen.append(list(argv))
        return 4

    monkeypatch.setattr(cc, "main", compiler)
    monkeypatch.setattr(run, "main", runner)
    assert main(["cc", "--help", "-o", "x"]) == 3
    assert main(["c++", "--version"]) == 3
    assert main(["run", "./x", "--", "--help"]) == 4
    assert seen == [(["--help", "-o", "x"], False), (["--version"], True), ["./x", "--", "--help"]]


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main_module, "_dispatch", interrupted)
    assert main(["report"]) == 130
    assert capsys.readouterr() == ("", "")


def test_our_own_mistakes_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(arguments: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(main_module, "_dispatch", mistaken)
    with pytest.raises(ZeroDivisionError):
        main(["report"])


def test_a_compiler_run_reads_neither_click_nor_rich() -> None:
    program = (
        "import sys, trodden.commands.main as m\n"
        "import trodden.commands.cc as cc\n"
        "cc.main = lambda argv, cxx: 0\n"
        "m.main(['cc'])\n"
        "print([name for name in ('click', 'rich', 'elftools') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    assert done.stdout == "[]\n"


def test_names_that_cannot_be_printed_are_no_reason_to_fail(tmp_path: Path) -> None:
    save(profile_of(unit_of(function("f\udcff", "a>exit")), {}), tmp_path / "x.trod")
    for verb in (["report"], ["export", "--format", "lcov"]):
        done = process(*verb, str(tmp_path / "x.trod"))
        assert done.returncode == 0
        assert "f\\udcff" in done.stdout
