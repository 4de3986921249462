"""The units that the result of a merge consists of, and how other builds fit into them.

The units of the first profile are those of the result.  A profile of the same build has the same units.  One
that has some of them, and others of sources not seen so far, has loaded a library that the first did not
load; its units are added to the result.  So are those of another program (see :meth:`MergedUnits.programs`).
All other units belong to another build: the functions of the result that their functions correspond to are
looked up one by one.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

from trodden.collect.call_paths import CalledFunction
from trodden.collect.programs import ProgramFile, joined_programs
from trodden.errors import OtherBuild
from trodden.merging.correspondence import Correspondence, correspondence
from trodden.merging.parts import BUILDS_KEPT, Part
from trodden.program.facts import FunctionFacts, UnitFacts, with_machine_of

Obstacle = Callable[[FunctionFacts, FunctionFacts], str | None]

_NOWHERE = Correspondence({}, {})


class MergedUnits:
    """The units of the result so far; ``obstacle`` says why one function cannot be joined with another."""

    def __init__(self, obstacle: Obstacle) -> None:
        self.first = ""
        self.facts: dict[str, UnitFacts] = {}
        self._obstacle = obstacle
        self._files: tuple[ProgramFile, ...] = ()
        self._all_named = True
        self._known: OrderedDict[tuple[str, ...], Correspondence] = OrderedDict()

    def function(self, called: CalledFunction) -> FunctionFacts:
        """A function of the result."""
        return self.facts[called[0]].functions[called[1]]

    def correspond(self, part: Part) -> Correspondence:
        """What the functions of a profile correspond to, of those units that are not units of the result."""
        if not self.facts:
            self.first = part.where
            self._add(part.units)
        self._add(self._other_programs(part))
        self._add_instructions(part.units)
        strangers = [unit for unit in part.units if unit.id not in self.facts]
        if strangers and len(strangers) < len(part.units):
            sources = {unit.source for unit in self.facts.values()}
            self._add([unit for unit in strangers if unit.source not in sources])
            strangers = [unit for unit in strangers if unit.source in sources]
        if not strangers:
            self._add_files(part)
            return _NOWHERE
        found = self._correspondence(part, strangers)
        if not found.targets and len(strangers) == len(part.units):
            reasons = Counter(found.reasons.values()).most_common(1)
            why = reasons[0][0] if reasons else "it has no functions"
            raise OtherBuild(
                f"{part.where}: of another build, and none of its functions can be joined with those of"
                f" {self.first} ({why}); merge profiles of each build by themselves"
            )
        self._add_files(part)
        return found

    @property
    def programs(self) -> tuple[ProgramFile, ...]:
        """The programs of all profiles added, none if some profile does not know its own."""
        if not self._all_named:
            return ()
        return tuple(
            replace(each, units=tuple(unit for unit in each.units if unit in self.facts))
            for each in self._files
        )

    def _add_files(self, part: Part) -> None:
        self._files = joined_programs((*self._files, *part.programs))
        self._all_named = self._all_named and bool(part.programs)

    def _other_programs(self, part: Part) -> list[UnitFacts]:
        """The units of programs that the result does not have in any build.

        A program of the same path is another build, and so is one of the same name that has a source in
        common: programs are moved, and those that are built for a run have a directory of their own.
        """
        if not self._all_named:
            return []
        paths = {each.path for each in self._files}
        names = {os.path.basename(path) for path in paths}
        sources = {unit.source for unit in self.facts.values()}
        units = {unit.id: unit for unit in part.units if unit.id not in self.facts}
        found: dict[str, UnitFacts] = {}
        known: set[str] = set()
        for each in part.programs:
            own = {unit: units[unit] for unit in each.units if unit in units}
            same_name = os.path.basename(each.path) in names
            if each.path in paths or (same_name and any(unit.source in sources for unit in own.values())):
                known |= own.keys()
            else:
                found |= own
        return [unit for name, unit in found.items() if name not in known]

    def _add(self, units: Sequence[UnitFacts]) -> None:
        self.facts |= {unit.id: unit for unit in units}
        if units:
            self._known.clear()

    def _add_instructions(self, units: Sequence[UnitFacts]) -> None:
        """Add the machine instructions of functions that no profile so far has executed."""
        for unit in units:
            if unit.id in self.facts:
                self.facts[unit.id] = with_machine_of(self.facts[unit.id], unit)

    def _correspondence(self, part: Part, strangers: Sequence[UnitFacts]) -> Correspondence:
        ids = tuple(unit.id for unit in part.units)
        if ids not in self._known:
            ours = [unit for name, unit in self.facts.items() if name not in ids]
            self._known[ids] = self._joinable(correspondence(ours, strangers), strangers)
            if len(self._known) > BUILDS_KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(ids)
        return self._known[ids]

    def _joinable(self, found: Correspondence, strangers: Sequence[UnitFacts]) -> Correspondence:
        """The same without functions that cannot be joined."""
        units = {unit.id: unit for unit in strangers}
        targets = dict(found.targets)
        reasons = dict(found.reasons)
        for (unit, number), target in found.targets.items():
            reason = self._obstacle(units[unit].functions[number], self.function(target))
            if reason is not None:
                reasons[unit, number] = reason
                del targets[unit, number]
        return Correspondence(targets, reasons)
