"""A program that does not have to run: what is known of it, whatever file it comes in, and its estimate."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trodden.errors import NotInstrumented, UsageError

if TYPE_CHECKING:
    from trodden.native.options import Options
    from trodden.profile.model import Profile
    from trodden.program.facts import UnitFacts
    from trodden.weigh.heuristics.rates import Rates

STAGES = ("late", "early")
_IR = (".ll", ".bc")
_ARCHIVES = (b"!<arch>\n", b"!<thin>\n")
_READ = "C or C++ sources, LLVM IR (.ll, .bc), a profile (.trod), or what trodden cc or rustc has built"


def estimate_of(
    files: Sequence[str],
    flags: Sequence[str],
    stage: str,
    toolchain: str | None,
    rates: Rates,
    passing: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> Profile:
    """The estimate of the program that ``files`` are; ``passing`` sees them go by, one after the other."""
    from trodden.estimating.estimate import estimate
    from trodden.native.options import Options

    if not files:
        raise UsageError(f"there is nothing to estimate; name {_READ}")
    if stage not in STAGES:
        raise UsageError(f"stage {stage}: choose {' or '.join(STAGES)}")
    if not any(map(_is_compiled, files)):
        _refuse_choices(files, flags, stage)
    units = units_of(passing(files), flags, Options(stage=stage), toolchain)
    profile = estimate(shlex.join(files), units, rates)
    return replace(profile, notes=(*profile.notes, *_notes(profile)))


def _is_compiled(file: str) -> bool:
    from trodden.native.driver.command_line import is_source

    return is_source(file) and not file.endswith(_IR)


def _refuse_choices(files: Sequence[str], flags: Sequence[str], stage: str) -> None:
    """What says how to compile is of no use where nothing is compiled."""
    named = " ".join(files)
    if flags:
        raise UsageError(
            f"{named}: nothing of it is compiled; flags behind -- are for sources: leave them out"
        )
    if stage != STAGES[0]:
        raise UsageError(f"{named}: nothing of it is compiled; stage {stage} is for sources, leave it out")


def _notes(profile: Profile) -> Iterable[str]:
    mains = sum(each.facts.linkage_name == "main" for each in profile.functions.values())
    if mains > 1:
        yield f"{mains} functions are called main: several programs were estimated as one"


def units_of(
    files: Iterable[str], flags: Sequence[str], options: Options, toolchain: str | None = None
) -> list[UnitFacts]:
    """The units of one program: sources, LLVM IR, what was built with probes, and profiles, in any mixture.

    ``flags`` are for the sources, which are compiled just as ``trodden run`` compiles them.
    """
    found: dict[str, UnitFacts] = {}
    named: list[str] = []
    for file in files:
        named.append(file)
        found.update((unit.id, unit) for unit in _units(file, flags, options, toolchain))
    if not any(unit.functions for unit in found.values()):
        raise UsageError(f"{' '.join(named)}: no function is in there; name what has some")
    return list(found.values())


def _units(file: str, flags: Sequence[str], options: Options, toolchain: str | None) -> Sequence[UnitFacts]:
    from trodden.collect.binary.program import read_program
    from trodden.native.driver.describe import facts_of_ir, facts_of_source
    from trodden.profile.store.trod import load

    if file.endswith(_IR):
        return [facts_of_ir(file, options)]
    if _is_compiled(file):
        return [facts_of_source([file, *flags], options, toolchain)]
    if file.endswith(".trod"):
        return load(file).units
    try:
        return list(read_program(file).units.values())
    except NotInstrumented as error:
        raise _no_units(file) from error


def _no_units(file: str) -> NotInstrumented | UsageError:
    """What to say of a file that is there but tells nothing."""
    from trodden.collect.binary.elf import MAGIC
    from trodden.regular_files import open_regular

    with open_regular(file) as stream:
        start = stream.read(len(_ARCHIVES[0]))
    if start in _ARCHIVES:
        return UsageError(f"{file}: archives are not read; name the objects that are in it")
    if start.startswith(MAGIC):
        return NotInstrumented(
            f"{file}: was not built with trodden cc; build it so, or name its sources or its LLVM IR"
        )
    return NotInstrumented(f"{file}: cannot be estimated; name {_READ}")
