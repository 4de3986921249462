"""What is known of a program that does not have to run, whatever kind of file it comes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trodden.errors import NotInstrumented, UsageError
from trodden.native.driver.command_line import is_source
from trodden.native.options.declarations import Options
from trodden.program.facts import UnitFacts

KINDS = "C or C++ sources, LLVM IR (.ll, .bc), a profile (.trod), or what trodden cc or rustc has built"
_IR = (".ll", ".bc")
_ARCHIVES = (b"!<arch>\n", b"!<thin>\n")


def is_compiled(file: str) -> bool:
    """Whether a file has to be compiled before anything is known of it."""
    return is_source(file) and not file.endswith(_IR)


def units_of(files: Iterable[str], flags: Sequence[str], options: Options) -> list[UnitFacts]:
    """The units of one program: sources, LLVM IR, instrumented binaries and profiles, in any mixture.

    ``flags`` are for the sources, which are compiled just as ``trodden run`` compiles them.
    """
    found: dict[str, UnitFacts] = {}
    named: list[str] = []
    for file in files:
        named.append(file)
        found.update((unit.id, unit) for unit in _units(file, flags, options))
    if not any(unit.functions for unit in found.values()):
        raise UsageError(f"{' '.join(named)}: no function is in there; name what has some")
    return list(found.values())


def _units(file: str, flags: Sequence[str], options: Options) -> Sequence[UnitFacts]:
    from trodden.collect.binary.program import read_program
    from trodden.native.driver.describe import facts_of_ir, facts_of_source
    from trodden.profile.store.trod import load

    if file.endswith(_IR):
        return [facts_of_ir(file, options)]
    if is_compiled(file):
        return [facts_of_source([file, *flags], options)]
    if file.endswith(".trod"):
        return load(file).units
    try:
        return list(read_program(file).units.values())
    except NotInstrumented as error:
        raise _without_units(file) from error


def _without_units(file: str) -> NotInstrumented | UsageError:
    """The error for a file that can be read but holds no units."""
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
    return NotInstrumented(f"{file}: cannot be estimated; name {KINDS}")
