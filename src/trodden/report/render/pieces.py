"""Pieces of what is printed at a terminal: tables, notes, and paths below what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from trodden.plan.routes import PathCount
from trodden.profile.model import FunctionProfile
from trodden.report.narrate.paths import ARROW, Story
from trodden.report.narrate.successors import Ways
from trodden.visible_text import visible_text

_LONGEST_STEP = 40
_MOST_STEPS = 12


class Terminal(Console):
    """A console that shows names out of files, and lets none of them give orders to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The same segments with nothing but their own style in them."""
        for segment in super().render(renderable, options):
            text = visible_text(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style, segment.control)


def table(title: str, numbers: Sequence[str], words: Sequence[str]) -> Table:
    """A table for a terminal: columns of numbers, then columns of words."""
    found = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in numbers:
        found.add_column(heading, justify="right", no_wrap=True)
    for heading in words:
        found.add_column(heading, overflow="fold")
    return found


def note(what: str) -> Text:
    """Something that a reader has to know to read the rest rightly."""
    return Text.assemble(("note ", "bold yellow"), what)


def steps(story: Story, longest: int, most: int) -> list[str]:
    """The steps of a path in words; of a long way its begin and its end, for the plain report has it all."""
    words = [step.words(longest) for step in story.steps]
    if len(words) > most:
        half = most // 2
        words[half:-half] = [f"… {len(words) - 2 * half} more …"]
    return words


def told(ways: Ways, function: FunctionProfile, path: PathCount, indent: int) -> Padding:
    """A path in words for a terminal, below what is said of it."""
    story = ways.describer.story(function, path)
    words = (story.starts, *steps(story, _LONGEST_STEP, _MOST_STEPS), story.ends)
    return Padding(Text(ARROW.join(words), style="dim"), (0, 0, 0, indent))
