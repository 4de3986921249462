"""The suite: programs that are pinned, inputs that are the same bytes each time, words that programs get."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from bench.build import compile as builds
from bench.build.compile import Way
from bench.suite import SUITE, chosen, model
from bench.suite.inputs import edits, texts
from bench.suite.inputs import unix as unix_inputs
from bench.suite.model import CASES, Case, SuiteProgram, contents
from bench.suite.programs import Sources
from bench.suite.recipes import Compiled, Made, compiled, made
from bench.support.errors import BenchError

_QUICK = ("bzip2", "gzip", "lua", "sqlite", "espresso", "evaluator", "ed", "grep", "factor")
"""Programs whose inputs are made in no time."""


def _made(program: SuiteProgram, directory: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in CASES:
        (directory / name).mkdir(parents=True)
        program.case(name).files(directory / name)
        found[name] = contents(directory / name)
    return found


def test_there_are_many_programs_and_each_has_a_name_of_its_own() -> None:
    names = [program.name for program in SUITE]
    assert len(set(names)) == len(names) >= 16
    assert all(re.fullmatch("[a-z][a-z0-9-]*", name) for name in names)
    assert {"bzip2", "espresso", "lua", "cmp", "ed", "grep", "factor", "sum", "tsort"} <= set(names)


@pytest.mark.parametrize("program", SUITE, ids=lambda program: program.name)
def test_what_comes_out_is_pinned_and_no_two_cases_are_the_same(program: SuiteProgram) -> None:
    cases = [program.case(name) for name in CASES]
    assert cases == [program.train, program.ref, program.long]
    assert len({case.sha256 for case in cases}) == len(cases)
    for case in cases:
        assert re.fullmatch("[0-9a-f]{64}", case.sha256)
        assert case.sha256 != sha256(b"").hexdigest()
    assert program.train.files is not program.ref.files
    assert program.version
    assert program.about
    assert program.recipe.language in ("C", "C++")


def test_sources_are_pinned() -> None:
    for program in SUITE:
        recipe = program.recipe
        if isinstance(recipe, Made):
            archive = recipe.package.archive
        elif isinstance(recipe, Compiled) and recipe.sources.archive is not None:
            archive = recipe.sources.archive
        else:
            continue
        assert re.fullmatch("[0-9a-f]{64}", archive.sha256), program.name


@pytest.mark.parametrize("name", _QUICK)
def test_inputs_are_the_same_bytes_each_time_and_others_for_each_case(name: str, tmp_path: Path) -> None:
    (program,) = chosen([name])
    first, second = _made(program, tmp_path / "first"), _made(program, tmp_path / "second")
    assert first == second
    assert len(set(first.values())) == len(CASES)
    for case in CASES:
        used = " ".join([*program.case(case).arguments, f"@{program.case(case).stdin}"])
        for path in (tmp_path / "first" / case).iterdir():
            assert f"@{path.name}" in used, f"{name}, {case}: nobody reads {path.name}"


def test_inputs_are_the_same_bytes_on_every_machine(tmp_path: Path) -> None:
    unix_inputs.searched(1)(tmp_path)
    assert contents(tmp_path) == "2e1f7105d8845f9089e861164ef22962a389f622a8452656613eb4e442f7550e"
    edits.train(tmp_path)
    assert contents(tmp_path) == "f3d4b7e54dd1555a3011dac5ff5a362f2f50c5300bd0b6ca84af3ffb99e6e510"
    text = texts.prose(Random(1), 5_000) + texts.code(Random(2), 5_000)
    assert (
        sha256(text.encode()).hexdigest()
        == "6dbbe99f10d6f150eddbce7411ae6f9be2ec8082c1b0360d41e5c56dd746583a"
    )


def test_texts_have_the_size_that_was_asked_for() -> None:
    random = Random(3)
    assert len(texts.log(random, 50)) == 50
    assert len(texts.table(random, 50)) == 51
    assert 10_000 <= len(texts.prose(random, 10_000)) <= 10_400
    assert 10_000 <= len(texts.code(random, 10_000)) <= 14_000
    words = texts.vocabulary(random, 500)
    assert len(set(words)) == 500
    drawn = texts.drawn(random, words, 3_000)
    assert drawn.count(words[0]) > 5 * drawn.count(words[40]) > 0


def test_words_name_input_files_in_the_directory_of_the_run() -> None:
    case = Case(("-e", "a@b", "@text", "--file=@list", "[@]x", "@", "-@"), lambda directory: None, "")
    assert case.words() == ["-e", "ain/b", "in/text", "--file=in/list", "[@]x", "@", "-@"]


def test_a_run_finds_its_input_and_nothing_of_a_run_before(tmp_path: Path) -> None:
    run, inputs = tmp_path / "run", tmp_path / "inputs"
    for directory in (run, inputs):
        directory.mkdir()
    (run / "old").write_text("left over")
    (inputs / "text").write_text("hello\n")
    case = Case(("@text",), lambda directory: None, "", stdin="text", outputs=("one", "two"))
    assert case.prepare(run, inputs).read_text() == "hello\n"
    assert [path.name for path in run.iterdir()] == ["in"]
    assert (run / case.words()[0]).read_text() == "hello\n"
    assert replace(case, stdin="").prepare(run, inputs) == Path("/dev/null")


def test_what_comes_out_is_what_is_printed_and_then_each_file_in_order(tmp_path: Path) -> None:
    case = Case((), lambda directory: None, "", outputs=("one", "two"))
    printed = tmp_path / "stdout"
    printed.write_text("a")
    (tmp_path / "one").write_text("b")
    with pytest.raises(BenchError, match="two: was not written by the run"):
        case.digest(tmp_path, printed)
    (tmp_path / "two").write_text("c")
    assert case.digest(tmp_path, printed) == sha256(b"abc").hexdigest()


def test_inputs_are_made_once_and_stay_when_they_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def files(directory: Path) -> None:
        calls.append(directory)
        (directory / "text").write_text(content)

    monkeypatch.setattr(model, "WORK", tmp_path)
    case = Case(("@text",), files, "")
    program = SuiteProgram("p", "1", "does nothing", compiled("bzip2"), case, case, case)
    content = "first"
    made = program.inputs("ref")
    kept = (made / "text").stat().st_ino
    assert program.inputs("ref") == made
    assert len(calls) == 1
    monkeypatch.setattr(model, "_MADE", set())
    assert (program.inputs("ref") / "text").stat().st_ino == kept
    assert len(calls) == 2
    monkeypatch.setattr(model, "_MADE", set())
    content = "second"
    assert (program.inputs("ref") / "text").read_text() == "second"
    assert sorted(path.name for path in made.parent.iterdir()) == ["ref", "ref.lock"]


def test_contents_tell_names_and_borders_apart(tmp_path: Path) -> None:
    seen = set()
    for number, files in enumerate(
        ({"a": "xy"}, {"a": "x", "b": "y"}, {"b": "xy"}, {"a": "x", "by": ""}, {})
    ):
        directory = tmp_path / str(number)
        directory.mkdir()
        for name, text in files.items():
            (directory / name).write_text(text)
        seen.add(contents(directory))
    assert len(seen) == 5


def test_programs_are_chosen_by_name_in_the_order_of_the_suite() -> None:
    assert chosen([]) == list(SUITE)
    assert [program.name for program in chosen(["lua", "bzip2", "lua"])] == ["bzip2", "lua"]
    with pytest.raises(BenchError, match=r"no program cal; there are bzip2, gzip, .*wc"):
        chosen(["bzip2", "cal"])


def test_recipes_are_found_by_the_name_of_the_command() -> None:
    assert made("wc").package.name == "coreutils"
    assert made("wc").version == "9.1 (coreutils)"
    assert compiled("evaluator").language == "C++"
    assert compiled("lua").language == "C"
    with pytest.raises(BenchError, match="no package has the command cal"):
        made("cal")
    with pytest.raises(BenchError, match="no program cal"):
        compiled("cal")


def test_a_build_is_made_once_and_says_how_long_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "WORK", tmp_path)
    compiler, called = tmp_path / "compiler", tmp_path / "called"
    compiler.write_text(
        f"""\
#!/bin/sh
[ "$1" = --version ] && exit
echo "$*" >> {called}
while [ "$1" != -o ]; do shift; done
: > "$2"
"""
    )
    compiler.chmod(0o755)
    recipe = Compiled(Sources(name="p", version="1", own=("threads.c",), libraries=("-lm",)))
    way = Way("plain", (str(compiler),), (str(compiler),), ("-O2",))
    assert recipe.built(way) == recipe.built(way) == tmp_path / "build" / "p" / "plain" / "p"
    assert len(called.read_text().splitlines()) == len(["compiled", "linked"])
    assert 0 <= recipe.seconds(way) < 60
    other = replace(way, flags=("-O1",))
    assert recipe.fingerprint(other) != recipe.fingerprint(way)
    recipe.built(other)
    assert len(called.read_text().splitlines()) == 4
    compiler.write_text("#!/bin/sh\necho no such thing\nexit 1\n")
    with pytest.raises(BenchError, match=r"(?s)p, plain: .*no such thing"):
        recipe.built(way)
    assert not (tmp_path / "build" / "p" / "plain" / "stamp").exists()
