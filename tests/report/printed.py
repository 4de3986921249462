"""What reports print, taken apart again."""

from __future__ import annotations

import io

from rich.console import Console


def rows_of(text: str) -> list[list[str]]:
    """The rows of a plain report, each checked against its heading."""
    rows = [line.split("\t") for line in text.splitlines()]
    headings = {row[0].removeprefix("#"): len(row) for row in rows if row[0].startswith("#")}
    assert all(len(row) == headings[row[0].removeprefix("#")] for row in rows)
    return [row for row in rows if not row[0].startswith("#")]


def wide_console() -> Console:
    return Console(file=io.StringIO(), width=200)


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
