"""The programs and libraries of a profile, as rows of the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from trodden.collect.programs import program_names, shared_units
from trodden.profile.model import Profile
from trodden.profile.programs import only_program, owners_of


@dataclass(frozen=True)
class ProgramRow:
    """A program or a library: ``functions`` is how many functions it has, ``ran`` how many of them ran.

    ``executed`` are the blocks that processes of a program have executed, in libraries too, or those that
    were executed in a library; ``share`` is that part of all.
    """

    name: str
    path: str
    kind: str
    processes: int
    functions: int
    ran: int
    executed: int
    share: float


def program_rows(profile: Profile) -> Iterator[ProgramRow]:
    """Programs first, each kind in the order of what it executed.

    Where programs have units in common, each is looked at by itself.  A merged profile does not tell them
    apart: there a function of such a unit has run if it did in any of them.
    """
    functions, ran = _functions(profile)
    shared = shared_units(profile.programs) if profile.processes else frozenset()
    everything = sum(
        sum(function.block_counts[: function.facts.graph.exit]) for function in profile.functions.values()
    )
    named = list(zip(program_names(profile.programs), profile.programs, strict=True))
    for name, each in sorted(named, key=lambda pair: (pair[1].library, -pair[1].executed, pair[0])):
        if not each.library and shared.intersection(each.units):
            alone = only_program(profile, each.path, name)
            ran[name] = _functions(alone)[1][program_names(alone.programs)[0]]
        yield ProgramRow(
            name,
            each.path,
            "library" if each.library else "program",
            each.processes,
            functions[name],
            ran[name],
            each.executed,
            each.executed / everything if everything else 0.0,
        )


def _functions(profile: Profile) -> tuple[Counter[str], Counter[str]]:
    """How many functions each program and library has, and how many of them were executed."""
    owners = owners_of(profile)
    functions: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    for function in profile.functions.values():
        # A function that several of a program's units hold is one function of it.
        inside: dict[str, bool] = {}
        for copy in function.copies or (function,):
            for name in owners.get(copy.unit, ()):
                inside[name] = inside.get(name, False) or any(copy.block_counts)
        functions.update(inside.keys())
        ran.update(name for name, executed in inside.items() if executed)
    return functions, ran
