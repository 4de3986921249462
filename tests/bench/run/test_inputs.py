"""The directory of a run, its input files, and the hash of its output."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from bench.run import inputs as inputs_module
from bench.run.cases import arguments_of, digest, prepare
from bench.run.inputs import inputs, write_inputs
from bench.suite.model import Case, SuiteProgram
from bench.suite.packages import command
from bench.support.errors import BenchError
from bench.support.hashing import contents


def test_arguments_name_input_files_in_the_directory_of_the_run() -> None:
    case = Case(("-e", "a@b", "@text", "--file=@list", "[@]x", "@", "-@"), lambda directory: None, "")
    assert arguments_of(case) == ["-e", "ain/b", "in/text", "--file=in/list", "[@]x", "@", "-@"]


def test_a_run_has_its_input_and_nothing_of_a_previous_run(tmp_path: Path) -> None:
    run, given = tmp_path / "run", tmp_path / "inputs"
    for directory in (run, given):
        directory.mkdir()
    (run / "old").write_text("left over")
    (given / "text").write_text("hello\n")
    case = Case(("@text",), lambda directory: None, "", stdin="text", outputs=("one", "two"))
    assert prepare(case, run, given).read_text() == "hello\n"
    assert [path.name for path in run.iterdir()] == ["in"]
    assert (run / arguments_of(case)[0]).read_text() == "hello\n"
    assert prepare(replace(case, stdin=""), run, given) == Path("/dev/null")


def test_the_output_is_what_is_printed_and_then_each_file_in_order(tmp_path: Path) -> None:
    case = Case((), lambda directory: None, "", outputs=("one", "two"))
    printed = tmp_path / "stdout"
    printed.write_text("a")
    (tmp_path / "one").write_text("b")
    with pytest.raises(BenchError, match="two: was not written by the run"):
        digest(case, tmp_path, printed)
    (tmp_path / "two").write_text("c")
    assert digest(case, tmp_path, printed) == sha256(b"abc").hexdigest()


def test_inputs_are_generated_once_and_stay_if_they_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def files(directory: Path) -> None:
        calls.append(directory)
        (directory / "text").write_text(content)

    monkeypatch.setattr(inputs_module, "WORK", tmp_path)
    case = Case(("@text",), files, "")
    program = SuiteProgram(name="generated", source=command("wc"), train=case, ref=case, long=case)
    content = "first"
    made = inputs(program, "ref")
    kept = (made / "text").stat().st_ino
    assert inputs(program, "ref") == made
    assert len(calls) == 1
    write_inputs(made, files)
    assert (made / "text").stat().st_ino == kept
    assert len(calls) == 2
    content = "second"
    write_inputs(made, files)
    assert (made / "text").read_text() == "second"
    assert sorted(path.name for path in made.parent.iterdir()) == ["ref", "ref.lock"]


def test_contents_distinguish_names_and_boundaries(tmp_path: Path) -> None:
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
