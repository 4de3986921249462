"""Pieces of what is printed at a terminal: tables, and paths below what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trodden.profile.model import FunctionProfile, PathCount
from trodden.report.describe_path import ARROW
from trodden.report.ways import Ways

_LONGEST_STEP = 40
_MOST_STEPS = 12


def table(title: str, numbers: Sequence[str], words: Sequence[str]) -> Table:
    """A table for a terminal: columns of numbers, then columns of words."""
    found = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in numbers:
        found.add_column(heading, justify="right")
    for heading in words:
        found.add_column(heading, overflow="fold")
    return found


def told(ways: Ways, function: FunctionProfile, path: PathCount, indent: int) -> Padding:
    """A path in words for a terminal, below what is said of it."""
    story = ways.describer.story(function, path)
    steps = [step.words(_LONGEST_STEP) for step in story.steps]
    if len(steps) > _MOST_STEPS:
        half = _MOST_STEPS // 2
        steps[half:-half] = [f"… {len(steps) - 2 * half} more …"]
    return Padding(Text(ARROW.join((story.starts, *steps, story.ends)), style="dim"), (0, 0, 0, indent))
