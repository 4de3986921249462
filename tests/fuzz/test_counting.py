"""A few random programs that count themselves, and faults that the campaign has to find."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz.counting import trial
from tests.fuzz.counting.campaign import campaign
from tests.fuzz.counting.compare import compare
from tests.fuzz.counting.configuration import Configuration
from tests.fuzz.counting.observed import observe
from tests.fuzz.counting.program import random_program
from trodden.profile.from_runs import collect
from trodden.profile.model import FunctionProfile, Profile

SEED, PROGRAMS, WAYS = 7, 3, 2
PATHS = Configuration("-O0", "late", "paths", "together", ())
WALKED = 117339159
"""A program whose functions of jumps are walked, left by jumps and interrupted by signals."""


def test_programs_count_as_they_do_themselves(tmp_path: Path) -> None:
    outcome = campaign(tmp_path / "work", tmp_path / "kept", math.inf, SEED, PROGRAMS, WAYS)
    told = "\n".join(f"{each.folder}: {each.what}\n{each.differences}" for each in outcome.found)
    assert not outcome.found, f"make fuzz-programs FUZZ_SEED={SEED}\n{told}"
    assert (outcome.programs, outcome.builds) == (PROGRAMS, WAYS * PROGRAMS)
    assert not outcome.unusable
    assert outcome.compared["lines"] > 500
    assert outcome.compared["edges"] > 50
    assert {"-O0", "-O3", "late", "paths", "shared", "static", "c"} <= set(outcome.tried)


def one_more_everywhere(function: FunctionProfile) -> FunctionProfile:
    counts = [0 if count is None else count + 1 for count in function.counted_edges]
    return replace(function, edge_counts=counts, block_counts=[n + 1 for n in function.counted_blocks])


def one_more_edge(function: FunctionProfile) -> FunctionProfile:
    counts = [0 if count is None else count for count in function.counted_edges]
    counts[1] += 1
    return replace(function, edge_counts=counts)


def one_path_less(function: FunctionProfile) -> FunctionProfile:
    assert function.paths
    most, *others = function.paths
    return replace(function, paths=(replace(most, count=most.count - 1), *others))


def test_a_count_that_is_wrong_is_found(tmp_path: Path) -> None:
    program = random_program(WALKED)
    assert program.exact
    assert not program.guarded
    assert trial.Trial(tmp_path, program, PATHS).run().differences == ()
    profile, seen = collect([tmp_path / "raws"]), observe(tmp_path)
    entered = [
        name for name, each in profile.functions.items() if name in {"g0", "g1", "g2"} and each.entries
    ]
    faults: dict[str, Callable[[FunctionProfile], FunctionProfile]] = {
        "second.c:": one_more_everywhere,
        "edge ": one_more_edge,
        "path ": one_path_less,
    }
    for name in entered:
        for what, fault in faults.items():
            wrong = replace(profile, functions={**profile.functions, name: fault(profile.functions[name])})
            found = compare(program, PATHS, seen, wrong).differences
            assert [each for each in found if each.what.startswith(what)], (name, what)


def test_a_program_that_differs_is_kept_with_all_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is left of the program, the count of `main` is wrong: most of its statements are dropped."""

    def wrong(raws: Sequence[Path]) -> Profile:
        profile = collect(raws)
        return replace(
            profile, functions={**profile.functions, "main": one_more_everywhere(profile.functions["main"])}
        )

    monkeypatch.setattr(trial, "collect", wrong)
    outcome = campaign(tmp_path / "work", tmp_path / "kept", math.inf, SEED, programs=1, ways=1, attempts=1)
    found = outcome.found[0]
    text = (found.folder / "differences.txt").read_text()
    assert "--repeat" in text
    assert "counted" in text
    assert "TRODDEN_FILE=" in text
    whole = (found.folder / "first.c").read_text()
    assert len((found.folder / "reduced" / "first.c").read_text()) < len(whole)
