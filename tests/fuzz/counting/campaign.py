"""Tries one random program after the other, and keeps those whose counts differ from their own."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.counting.configuration import Configuration, random_configuration
from tests.fuzz.counting.program import Program, random_program
from tests.fuzz.counting.reduce import reduced
from tests.fuzz.counting.trial import Broken, Trial, Unusable

WAYS = 3
"""In how many ways each program is built and run."""


@dataclass
class Found:
    """A program whose counts differ, and where it is kept."""

    folder: Path
    what: str
    differences: Sequence[str]


@dataclass
class Outcome:
    """What a campaign has done and found; ``tried`` are the configurations by their properties."""

    programs: int = 0
    builds: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)


def differences_of(trial: Trial) -> tuple[Counter[str], list[str]]:
    """What was compared, and how the counts of a program differ from its own."""
    try:
        comparison = trial.run()
    except Broken as error:
        return Counter(), [str(error)]
    return comparison.compared, [str(each) for each in comparison.differences]


def campaign(
    work: Path,
    kept: Path,
    seconds: float,
    seed: int,
    programs: int | None = None,
    ways: int = WAYS,
    told: Callable[[Outcome], None] = lambda _: None,
    attempts: int = 40,
) -> Outcome:
    """Try random programs for some time, or a number of them."""
    outcome = Outcome()
    end = time.monotonic() + seconds
    while time.monotonic() < end and (programs is None or outcome.programs < programs):
        own_seed = random.Random(f"{seed} {outcome.programs}").randrange(1 << 31)
        program = random_program(own_seed)
        chance = random.Random(own_seed)
        outcome.programs += 1
        for _ in range(ways):
            configuration = random_configuration(chance, program)
            _try(Trial(work / "trial", program, configuration), kept, outcome, attempts)
            told(outcome)
    return outcome


def _try(trial: Trial, kept: Path, outcome: Outcome, attempts: int) -> None:
    configuration, program = trial.configuration, trial.program
    outcome.builds += 1
    outcome.tried.update(
        (configuration.level, configuration.stage, configuration.profile, configuration.linked)
    )
    outcome.tried.update((program.suffix, f"end by {program.end}"))
    try:
        compared, differences = differences_of(trial)
    except Unusable as error:
        outcome.unusable[str(error)] += 1
        return
    outcome.compared.update(compared)
    if differences:
        outcome.found.append(_keep(trial, kept, differences, attempts))


def _keep(trial: Trial, kept: Path, differences: Sequence[str], attempts: int) -> Found:
    """Store a program that differs, as it was and with less in it."""
    program, configuration = trial.program, trial.configuration
    folder = kept / f"program-{program.seed}-{configuration.level.strip('-')}-{configuration.profile}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(trial.folder, folder)
    again = f"python -m tests.fuzz.counting --repeat {program.seed} --folder {folder}"
    text = [program.describe(), configuration.describe(), "", *trial.commands, "", again, "", *differences]
    (folder / "differences.txt").write_text("\n".join(text) + "\n")
    smaller, left = reduced(program, lambda each: _differs(trial, each), attempts)
    if smaller != program:
        _store(folder / "reduced", smaller, configuration, left)
    return Found(folder, f"{program.describe()}; {configuration.describe()}", differences)


def _differs(trial: Trial, program: Program) -> list[str]:
    """The differences of another program that is built and run in the same way; none if it is of no use."""
    other = Trial(trial.folder.with_name("reducing"), program, trial.configuration)
    try:
        return differences_of(other)[1]
    except Unusable:
        return []


def _store(folder: Path, program: Program, configuration: Configuration, differences: Sequence[str]) -> None:
    folder.mkdir()
    for stem, text in (("first", program.first), ("second", program.second)):
        (folder / f"{stem}.{program.suffix}").write_text(text)
    (folder / "differences.txt").write_text("\n".join([configuration.describe(), "", *differences]) + "\n")
