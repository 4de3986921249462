"""One answer, shown in the format that was asked for.

A table is the default wherever the output goes, so that ``trodden report x | less`` shows what a terminal
shows.  Programs ask for ``tsv`` or ``json``, by a flag, an environment variable or the configuration file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trodden.commands.output import flush, put
from trodden.report.render.screen import AUTO, Screen, screen_of
from trodden.version import SCHEMA, __version__

if TYPE_CHECKING:
    from trodden.report.render.pieces import Page

TABLE, TSV, JSON, MARKDOWN = "table", "tsv", "json", "markdown"
FORMATS = (TABLE, TSV, JSON, MARKDOWN)


@dataclass(frozen=True)
class Answer:
    """An answer in every format; only the one that is asked for is made.

    ``document`` is for JSON, ``rows`` for programs that read lines, ``page`` prints tables and sentences.
    ``others`` are formats that only this answer has.
    """

    document: Callable[[], dict[str, Any]]
    rows: Callable[[], str]
    page: Callable[[Page], None]
    others: Mapping[str, Callable[[], str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Presentation:
    """How to show an answer."""

    format: str = TABLE
    color: str = AUTO
    pager: bool = True

    @cached_property
    def screen(self) -> Screen:
        """Where standard output goes."""
        return screen_of(sys.stdout, self.color)

    @property
    def for_people(self) -> bool:
        """Whether a person reads it, so that the rows that matter most will do."""
        return self.format not in (TSV, JSON)

    def show(self, answer: Answer) -> None:
        """Print the answer."""
        if self.format == JSON:
            stamp = {"schema": SCHEMA, "version": __version__}
            put(json.dumps(stamp | answer.document(), indent=1) + "\n")
        elif self.format == TSV:
            put(answer.rows())
        elif self.format in answer.others:
            put(answer.others[self.format]())
        elif self.format == MARKDOWN:
            from trodden.report.render.markdown import MarkdownPage

            page = MarkdownPage()
            answer.page(page)
            put(page.text())
        else:
            self.show_text(page_text(answer.page, self.screen))

    def show_text(self, text: str) -> None:
        """Print a text that may have colours and is free of other control characters."""
        from trodden.commands.showing.pager import paged

        if not (self.pager and paged(text, self.screen)):
            flush(text)


def page_text(page: Callable[[Page], None], screen: Screen) -> str:
    """What is printed on a screen, as text."""
    from trodden.report.render.pieces import Terminal

    console = Terminal.for_text(screen.width, screen.color, screen.encoding)
    page(console)
    return console.text()
