"""Tables as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from trodden.visible_text import visible

_ROWS = 20
_NUMBER = ' style="text-align: right"'


def html_table(title: str, heads: Sequence[str], numbers: int, rows: Sequence[Sequence[str]]) -> str:
    """A table whose first columns are ``numbers``; of many rows only the first are shown."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{_NUMBER if column < numbers else ''}>{escape(visible(text))}</{tag}>"
            for column, text in enumerate(texts)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows[:_ROWS])
    rest = f"<p>… and {len(rows) - _ROWS:,} more</p>" if len(rows) > _ROWS else ""
    caption = f"<caption>{escape(visible(title))}</caption>"
    return f"<table>{caption}<thead><tr>{cells('th', heads)}</tr></thead><tbody>{body}</tbody></table>{rest}"
