"""The successors of a branch in a few words, and paths as documents: what all comparisons of paths share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from trodden.plan.routes import PathCount, Route
from trodden.profile.model import FunctionProfile
from trodden.report.fields import counted
from trodden.report.narrate.copies import BranchCopies, Copy
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.steps import Step, cut

_LONGEST_TEXT = 60
_MOST_SUCCESSORS = 3


def as_path(route: Route, number: int = -1) -> PathCount:
    """A path that was never executed, so that it can be described."""
    return PathCount(number, 0, route.blocks, route.edges, route.starts, route.ends, None, route.context)


class BranchDescriber:
    """The branches of a profile's functions in words."""

    def __init__(self, describer: Describer) -> None:
        self.describer = describer
        self.copies = BranchCopies(describer)

    def branch(self, function: FunctionProfile, block: int, short: bool = False) -> str:
        """``prog.c:12 `if (x < 0)` (copy 2 of 3)``: a branch by its location and which copy of it is meant.

        If short, without the directory.
        """
        step = self._any_step(function, block)
        if step is None or step.file is None:
            return self.location(function, block, short)
        location = f"{os.path.basename(step.file) if short else step.file}:{step.line}"
        text = f" `{cut(step.text, _LONGEST_TEXT)}`" if step.text else ""
        return f"{location}{text}{self.copies.copy(function, block).words}"

    def _any_step(self, function: FunctionProfile, block: int) -> Step | None:
        edges = self.describer.locations(function).flow_out(block)
        steps = (self.describer.decision(function, edge) for edge in edges)
        return next((step for step in steps if step is not None), None)

    def location(self, function: FunctionProfile, block: int, short: bool = False) -> str:
        """``prog.c:12``, ``list.h:7 (inlined at line 12)``: where a block ends."""
        locations = self.describer.locations(function)
        ref = locations.end(block)
        if ref is None:
            return f"{function.name}, block {function.facts.graph.labels[block]}"
        path = locations.path_of(ref)
        copy = Copy(self.copies.inlined_at(function, block))
        return f"{os.path.basename(path) if short else path}:{ref.line}{copy.words}"

    def successor(self, function: FunctionProfile, edge: int) -> str:
        """``to line 15 (x < 0: false)``: where an edge leads, and what was decided if that is known."""
        locations, graph = self.describer.locations(function), function.facts.graph
        src = graph.edges[edge].src
        step = self.describer.decision(function, edge)
        if step is None or step.outcome is None:
            several = len(locations.flow_out(src)) > 1
            return "to the code after the call" if several else "to its only successor"
        target = f"to {step.outcome.continues or locations.name_of_block(*locations.after(edge))}"
        if step.outcome.throws and step.outcome.continues is None:
            target = "out of the function"
        decision = "" if step.outcome.ambiguous else step.outcome.decision
        return f"{target} ({decision})" if decision else target

    def successors(self, function: FunctionProfile, edges: Sequence[int]) -> str:
        """The first few of some successors."""
        words = list(dict.fromkeys(self.successor(function, edge) for edge in edges))
        more = len(words) - _MOST_SUCCESSORS
        shown = ", ".join(words[:_MOST_SUCCESSORS])
        return f"{shown} and {counted(more, 'other successor')}" if more > 0 else shown

    def line(self, function: FunctionProfile, edge: int) -> int | None:
        """The line that an edge leads to, if it is one of the function's file."""
        locations = self.describer.locations(function)
        _, ref = locations.after(edge)
        return ref.line if ref is not None and locations.path_of(ref) == function.file else None

    def path_document(self, function: FunctionProfile, path: PathCount) -> dict[str, Any]:
        """A path as dictionaries and lists."""
        described = self.describer.describe(function, path)
        labels = function.facts.graph.labels
        return {
            "starts": described.starts,
            "ends": described.ends,
            "steps": [
                {"file": step.file, "line": step.line, "text": step.text, "outcome": step.outcome_text}
                for step in described.steps
            ],
            "blocks": [labels[block] for block in path.blocks[path.context :]],
        }

    def branch_document(self, function: FunctionProfile, block: int) -> dict[str, Any]:
        """The location of a branch as a dictionary."""
        step = self._any_step(function, block)
        label = function.facts.graph.labels[block]
        copy = self.copies.copy(function, block)
        which = {"inlined_at": list(copy.inlined_at), "copy": copy.number, "copies": copy.of}
        if step is not None:
            return {"file": step.file, "line": step.line, "text": step.text, "block": label, **which}
        locations = self.describer.locations(function)
        ref = locations.end(block)
        file, line = (None, None) if ref is None else (locations.path_of(ref), ref.line)
        return {"file": file, "line": line, "text": None, "block": label, **which}

    def successor_document(self, function: FunctionProfile, edge: int) -> dict[str, Any]:
        """A successor of a branch as a dictionary."""
        graph = function.facts.graph
        dst = graph.edges[edge].dst
        label = "exit" if dst == graph.exit else graph.labels[dst]
        return {"line": self.line(function, edge), "block": label, "words": self.successor(function, edge)}
