"""Ways out of a branch in a few words, and paths as documents: what all who compare paths say alike."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from trodden.plan.routes import PathCount, Route
from trodden.profile.model import FunctionProfile
from trodden.report.fields import counted
from trodden.report.narrate.decisions import Step
from trodden.report.narrate.paths import Describer

_LONGEST_TEXT = 60
_MOST_WAYS = 3


def as_path(route: Route, number: int = -1) -> PathCount:
    """A path that was never walked, for those who describe paths."""
    return PathCount(number, 0, route.blocks, route.edges, route.starts, route.ends, None, route.context)


class Ways:
    """The branches of a profile's functions in words."""

    def __init__(self, describer: Describer) -> None:
        self.describer = describer

    def branch(self, function: FunctionProfile, block: int, short: bool = False) -> str:
        """``prog.c:12 `if (x < 0)```: the place of a branch; if short, without the directory."""
        step = self._any_step(function, block)
        if step is None or step.file is None:
            return self.place(function, block, short)
        place = f"{os.path.basename(step.file) if short else step.file}:{step.line}"
        return f"{place} `{_cut(step.text)}`" if step.text else place

    def _any_step(self, function: FunctionProfile, block: int) -> Step | None:
        edges = self.describer.places(function).flow_out(block)
        steps = (self.describer.decision(function, edge) for edge in edges)
        return next((step for step in steps if step is not None), None)

    def place(self, function: FunctionProfile, block: int, short: bool = False) -> str:
        """``prog.c:12``: where a block ends."""
        places = self.describer.places(function)
        ref = places.end(block)
        if ref is None:
            return f"{function.name}, block {function.facts.graph.labels[block]}"
        path = places.path_of(ref)
        return f"{os.path.basename(path) if short else path}:{ref.line}"

    def way(self, function: FunctionProfile, edge: int) -> str:
        """``to line 15 (no)``: where an edge leads, and what was decided if that is known."""
        places, graph = self.describer.places(function), function.facts.graph
        step = self.describer.decision(function, edge)
        if step is None or step.outcome is None:
            return "on behind the call" if len(places.flow_out(graph.edges[edge].src)) > 1 else "on"
        src, dst, _ = graph.edges[edge]
        target, outcome = places.name_of_block(dst, places.begin(dst)), step.outcome
        if outcome.startswith("goes to "):
            return outcome.removeprefix("goes ")
        if outcome.startswith("leaves the function"):
            return "out of the function"
        if outcome.startswith("way "):
            return f"by {outcome}"
        if dst == graph.exit:
            return f"out of the function ({outcome})"
        if target in outcome or target == step.place or src == dst:
            return f'"{outcome}"'
        return f"to {target} ({outcome})"

    def several(self, function: FunctionProfile, edges: Sequence[int]) -> str:
        """The first few of some ways."""
        words = list(dict.fromkeys(self.way(function, edge) for edge in edges))
        more = len(words) - _MOST_WAYS
        return ", ".join(words[:_MOST_WAYS]) + (f" and {counted(more, 'other way')}" if more > 0 else "")

    def line(self, function: FunctionProfile, edge: int) -> int | None:
        """The line that an edge leads to, if it is one of the function's file."""
        places = self.describer.places(function)
        ref = places.begin(function.facts.graph.edges[edge].dst)
        return ref.line if ref is not None and places.path_of(ref) == function.file else None

    def path_document(self, function: FunctionProfile, path: PathCount) -> dict[str, Any]:
        """A path as dictionaries and lists."""
        story = self.describer.story(function, path)
        labels = function.facts.graph.labels
        return {
            "starts": story.starts,
            "ends": story.ends,
            "steps": [
                {"file": step.file, "line": step.line, "text": step.text, "outcome": step.outcome}
                for step in story.steps
            ],
            "blocks": [labels[block] for block in path.blocks[path.context :]],
        }

    def branch_document(self, function: FunctionProfile, block: int) -> dict[str, Any]:
        """The place of a branch as a dictionary."""
        step = self._any_step(function, block)
        label = function.facts.graph.labels[block]
        if step is not None:
            return {"file": step.file, "line": step.line, "text": step.text, "block": label}
        places = self.describer.places(function)
        ref = places.end(block)
        file = None if ref is None else places.path_of(ref)
        return {"file": file, "line": None if ref is None else ref.line, "text": None, "block": label}

    def way_document(self, function: FunctionProfile, edge: int) -> dict[str, Any]:
        """A way out of a branch as a dictionary."""
        graph = function.facts.graph
        dst = graph.edges[edge].dst
        label = "exit" if dst == graph.exit else graph.labels[dst]
        return {"line": self.line(function, edge), "block": label, "words": self.way(function, edge)}


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
