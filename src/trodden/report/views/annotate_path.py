"""A source with one path highlighted: the lines on it, and beside them what was decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trodden.errors import UsageError
from trodden.profile.model import Profile
from trodden.program.facts import LineRef
from trodden.report.narrate.paths import ARROW, Describer
from trodden.report.views.annotate import SourceView, styled
from trodden.report.views.hot_paths import HotPath, executed_along, executed_blocks, executed_in_all
from trodden.report.views.instruction_kind import instruction_kind
from trodden.source.reached import reached_on_path
from trodden.source.texts import read_source

_ON, _OFF, _HEAD, _NOTE = "1;32", "2", "1", "36"


@dataclass(frozen=True)
class PathLine:
    """A source line: whether it is on the path, and what was decided there."""

    number: int
    text: str
    on_path: bool
    outcome: str | None = None


class PathAnnotator:
    """One path in its sources.

    The first view is the whole function.  It is followed by the inlined code on the path: the whole function
    that it was inlined from if that is known, or else the lines on the path.
    """

    def __init__(self, profile: Profile, rank: int, hot: HotPath, force: bool = False) -> None:
        self._profile, self._rank, self._hot, self._force = profile, rank, hot, force
        describer = Describer(profile, force)
        self._locations = describer.locations(hot.function)
        self._path = describer.describe(hot.function, hot.path)
        self._refs = self._lines_on_path()
        self._lines = {(self._locations.path_of(ref), ref.line) for ref in self._refs}
        self._outcomes: dict[tuple[str, int], list[str]] = {}
        for ref, reached in self._partly:
            location = self._locations.path_of(ref), ref.line
            self._outcomes[location] = [f"reached {reached} of {hot.path.count} times"]
        for step in self._path.steps:
            outcome = step.outcome_text
            if step.file is not None and step.line is not None and outcome is not None:
                self._lines.add((step.file, step.line))
                self._outcomes.setdefault((step.file, step.line), []).append(outcome)

    def _lines_on_path(self) -> list[LineRef]:
        """The lines on the path, those of inlined call sites included."""
        facts = self._hot.function.facts
        found: dict[LineRef, None] = {}
        self._partly: list[tuple[LineRef, int]] = []
        *whole, last = executed_blocks(self._hot.path)
        refs = [ref for block in whole for _, ref in facts.blocks[block].statement_lines]
        for ref, reached in reached_on_path(self._hot.function, self._hot.path, last):
            if reached:
                refs.append(ref)
            if 0 < reached < self._hot.path.count:
                self._partly.append((ref, reached))
        for ref in refs:
            while ref not in found:
                found[ref] = None
                if not ref.instance:
                    break
                ref = facts.inlined[ref.instance - 1]
        return [ref for ref in found if ref.line > 0]

    def head(self) -> list[str]:
        """What the path is and how often it was executed."""
        key, function, path = self._hot
        everything = executed_in_all(self._profile.functions.values()).instructions
        share = 100 * executed_along(function, path).instructions / everything if everything else 0.0
        words = instruction_kind(self._profile.functions.values()).words
        times = "once" if path.count == 1 else f"{path.count} times"
        cycles = "" if path.cycles is None else f", {path.cycles} cycles"
        lines = [
            f"{key}, path {self._rank} (id {path.id}): executed {times}, "
            f"{share:.1f}% of the {words} executed{cycles}",
            f"{self._path.starts}; {self._path.ends}",
        ]
        if self._path.context:
            lines.append(f"reached by {ARROW.join(step.words() for step in self._path.context)}")
        return lines

    def views(self) -> list[SourceView]:
        """The parts of the sources to show."""
        function = self._hot.function
        own = self._locations.index.span(function)
        if not own:
            raise UsageError(f"{self._hot.key}: no source lines are known; build with -g to have them")
        spans: dict[str, set[tuple[int, int | None]]] = {function.file: {(own[0], own[-1])}}
        unknown: dict[tuple[str, int], list[int]] = {}
        for ref in self._refs:
            path = self._locations.path_of(ref)
            if path == function.file and ref.line in own:
                continue
            origin = self._locations.inlined_function(ref)
            if origin is not None and origin.file == path:
                span = self._locations.index.span(origin)
                spans.setdefault(path, set()).add((span[0], span[-1]))
            else:
                unknown.setdefault((path, ref.instance), []).append(ref.line)
        for (path, _), lines in unknown.items():
            spans.setdefault(path, set()).add((min(lines), max(lines)))
        return [SourceView(path, tuple(sorted(parts))) for path, parts in spans.items()]

    def lines(self, view: SourceView) -> Iterator[PathLine]:
        """The lines of a view, in order, without repetition."""
        source = read_source(self._profile, view.path, self._force)
        for number in view.numbers(len(source)):
            line = view.path, number
            outcome = "; then ".join(self._outcomes.get(line, ())) or None
            yield PathLine(number, source[number - 1], line in self._lines, outcome)


def path_text(path: str, lines: Sequence[PathLine], colour: bool = False) -> Iterator[str]:
    """One source as lines of text; lines left out between parts are marked."""
    yield styled(path, _HEAD, colour)
    latest = None
    for line in lines:
        if latest is not None and line.number != latest + 1:
            yield styled("       …", _OFF, colour)
        latest = line.number
        mark = ("▶" if colour else ">") if line.on_path else " "
        row = f"{mark} {line.number:>6}  {line.text.expandtabs(8)}".rstrip()
        note = styled(f"  ← {line.outcome}", _NOTE, colour) if line.outcome else ""
        yield styled(row, _ON if line.on_path else _OFF, colour) + note
