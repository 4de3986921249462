"""The suite: pinned programs, reproducible inputs, workloads."""

from __future__ import annotations

import re
import shlex
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from bench.suite import ESTIMATED, SUITE, select
from bench.suite.calibration import CALIBRATION, FITTED_TO
from bench.suite.inputs import edits, script_files, texts
from bench.suite.inputs import unix as unix_inputs
from bench.suite.model import CASES, SuiteProgram
from bench.suite.packages import PACKAGES, command
from bench.suite.sources import PackageCommand
from bench.suite.workloads import SCRIPTS
from bench.support.errors import BenchError
from bench.support.hashing import contents

_QUICK = ("bzip2", "gzip", "lua", "sqlite", "espresso", "evaluator", "ed", "grep", "factor")
"""Programs whose inputs are generated quickly."""


def _generated(program: SuiteProgram, directory: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in CASES:
        (directory / name).mkdir(parents=True)
        program.case(name).files(directory / name)
        found[name] = contents(directory / name)
    return found


def test_there_are_many_programs_with_different_names() -> None:
    names = [program.name for program in SUITE]
    assert len(set(names)) == len(names) >= 16
    assert all(re.fullmatch("[a-z][a-z0-9-]*", name) for name in names)
    assert {"bzip2", "espresso", "lua", "cmp", "ed", "grep", "factor", "sum", "tsort"} <= set(names)


@pytest.mark.parametrize("program", SUITE, ids=lambda program: program.name)
def test_outputs_are_pinned_and_cases_differ(program: SuiteProgram) -> None:
    cases = [program.case(name) for name in CASES]
    assert cases == [program.train, program.ref, program.long]
    assert len({case.sha256 for case in cases}) == len(cases)
    for case in cases:
        assert re.fullmatch("[0-9a-f]{64}", case.sha256)
        assert case.sha256 != sha256(b"").hexdigest()
    assert program.train.files is not program.ref.files
    assert program.version
    assert program.about
    assert program.source.language in ("C", "C++")


def test_sources_are_pinned() -> None:
    for program in (*SUITE, *CALIBRATION):
        archive = program.source.archive
        if archive is not None:
            assert re.fullmatch("[0-9a-f]{64}", archive.sha256), program.name


@pytest.mark.parametrize("name", _QUICK)
def test_inputs_are_reproducible_and_differ_between_cases(name: str, tmp_path: Path) -> None:
    (program,) = select([name])
    first, second = _generated(program, tmp_path / "first"), _generated(program, tmp_path / "second")
    assert first == second
    assert len(set(first.values())) == len(CASES)
    for case in CASES:
        used = " ".join([*program.case(case).arguments, f"@{program.case(case).stdin}"])
        for path in (tmp_path / "first" / case).iterdir():
            assert f"@{path.name}" in used, f"{name}, {case}: {path.name} is not used"


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


def test_texts_have_the_requested_size() -> None:
    random = Random(3)
    assert len(texts.log(random, 50)) == 50
    assert len(texts.table(random, 50)) == 51
    assert 10_000 <= len(texts.prose(random, 10_000)) <= 10_400
    assert 10_000 <= len(texts.code(random, 10_000)) <= 14_000
    words = texts.vocabulary(random, 500)
    assert len(set(words)) == 500
    drawn = texts.drawn(random, words, 3_000)
    assert drawn.count(words[0]) > 5 * drawn.count(words[40]) > 0


def test_programs_are_selected_by_name_in_the_order_of_the_suite() -> None:
    assert select([]) == list(SUITE)
    assert [program.name for program in select(["lua", "bzip2", "lua"])] == ["bzip2", "lua"]
    with pytest.raises(BenchError, match=r"no program cal; there are bzip2, gzip, .*wc"):
        select(["bzip2", "cal"])


def test_commands_are_found_by_their_name() -> None:
    assert command("wc").package.name == "coreutils"
    assert command("wc").version == "9.1 (coreutils)"
    assert command("wc").path == "src/wc"
    assert command("gperf").language == "C++"
    assert {program.name: program.source.language for program in SUITE}["evaluator"] == "C++"
    assert {program.name: program.source.language for program in SUITE}["lua"] == "C"
    with pytest.raises(BenchError, match="no package has the command cal"):
        command("cal")


def test_files_of_workloads_are_reproducible(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        script_files.write(tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "other")
    assert (tmp_path / "one" / "empty").read_bytes() == b""


def test_every_estimated_program_has_a_script_that_runs_it() -> None:
    scripts = {path.name: path.read_text().splitlines() for path in SCRIPTS.iterdir()}
    commands = {Path(path).name for package in PACKAGES for path in package.commands}
    assert set(scripts) == {program.name for program in ESTIMATED}
    assert commands == {each.name for each in ESTIMATED if isinstance(each.source, PackageCommand)}
    for program in ESTIMATED:
        assert program.workload is not None
        assert program.workload.script == SCRIPTS / program.name
        for line in scripts[program.name]:
            assert program.name in shlex.split(line), line


def test_rates_were_fitted_to_programs_with_a_workload() -> None:
    assert {program.name for program in ESTIMATED} >= FITTED_TO
    assert not {program.name for program in CALIBRATION} & {program.name for program in SUITE}
