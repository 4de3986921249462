"""What terminal reports are made of: tables, notes, and paths below the sentences about them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from trodden.plan.routes import PathCount
from trodden.profile.model import FunctionProfile
from trodden.report.narrate.paths import ARROW, PathDescription
from trodden.report.narrate.successors import BranchDescriber
from trodden.visible_text import visible_text

_LONGEST_STEP = 40
_MOST_STEPS = 12


class Page(Protocol):
    """What a report is printed on: a terminal, a text of some width, or Markdown."""

    def print(self, *what: Any) -> None:
        """Print tables and texts, one below the other."""


class _Encoded(io.StringIO):
    """A text in memory that is going to be written in some encoding, which decides how lines are drawn."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


class Terminal(Console):
    """A console that shows names out of files, with control characters made visible."""

    @classmethod
    def for_text(cls, width: int, color: bool, encoding: str = "utf-8") -> Terminal:
        """A page of a certain width in memory."""
        return cls(
            file=_Encoded(encoding),
            width=width,
            force_terminal=color,
            color_system="standard" if color else None,
            no_color=not color,
            legacy_windows=False,
            highlight=False,
        )

    def text(self) -> str:
        """What was printed on a page in memory, without blanks at the ends of lines."""
        assert isinstance(self.file, io.StringIO)
        return "\n".join(line.rstrip(" ") for line in self.file.getvalue().split("\n"))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The same segments with no control characters but those of their own style."""
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
    """Something that a reader has to know to understand the rest."""
    return Text.assemble(("note ", "bold yellow"), what)


def steps(path: PathDescription, longest: int, most: int) -> list[str]:
    """The steps of a path in words; of a long path its beginning and its end.  The plain report has all."""
    words = [step.words(longest) for step in path.steps]
    if len(words) > most:
        half = most // 2
        words[half:-half] = [f"… {len(words) - 2 * half} more …"]
    return words


def described(branches: BranchDescriber, function: FunctionProfile, path: PathCount, indent: int) -> Padding:
    """A path in words, below the sentence about it."""
    found = branches.describer.describe(function, path)
    words = (found.starts, *steps(found, _LONGEST_STEP, _MOST_STEPS), found.ends)
    return Padding(Text(ARROW.join(words), style="dim"), (0, 0, 0, indent))
