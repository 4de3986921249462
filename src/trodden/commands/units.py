"""What is known of a program that does not have to run, whatever file it comes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trodden.errors import NotInstrumented, UsageError
from trodden.native.cmdline import is_source
from trodden.native.options import Options
from trodden.profile.model import UnitFacts

_IR = (".ll", ".bc")


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
    from trodden.native.describe import facts_of_ir, facts_of_source
    from trodden.profile.program import read_program
    from trodden.profile.store import load

    if file.endswith(_IR):
        return [facts_of_ir(file, options)]
    if is_source(file):
        return [facts_of_source([file, *flags], options, toolchain)]
    if file.endswith(".trod"):
        return load(file).units
    try:
        return list(read_program(file).units.values())
    except NotInstrumented as error:
        raise NotInstrumented(
            f"{file}: was not built with trodden cc; build it so, or name its sources or its LLVM IR"
        ) from error
