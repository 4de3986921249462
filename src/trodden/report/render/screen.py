"""Where tables go: how wide and high the screen is, and whether colours are shown there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

AUTO, ALWAYS, NEVER = "auto", "always", "never"
COLORS = (AUTO, ALWAYS, NEVER)
WIDTH, HEIGHT = 100, 24
"""The size of a page that is no terminal, unless ``COLUMNS`` and ``LINES`` say otherwise."""


@dataclass(frozen=True)
class Screen:
    """A place for tables."""

    width: int
    height: int
    color: bool
    terminal: bool
    encoding: str


def screen_of(stream: TextIO, color: str = AUTO, environment: Mapping[str, str] = os.environ) -> Screen:
    """The screen that a stream is shown on.

    ``color`` is the choice of a flag or a configuration file; ``auto`` leaves it to ``NO_COLOR``,
    ``FORCE_COLOR`` and the stream, in this order.
    """
    terminal = stream.isatty()
    size = shutil.get_terminal_size((WIDTH, HEIGHT)) if terminal else _stated(environment)
    return Screen(
        width=max(size.columns, 40),
        height=max(size.lines, 10),
        color=_colored(color, terminal, environment),
        terminal=terminal,
        encoding=stream.encoding or "utf-8",
    )


def _stated(environment: Mapping[str, str]) -> os.terminal_size:
    def number(name: str, default: int) -> int:
        text = environment.get(name, "")
        return int(text) if text.isdecimal() and text.isascii() and int(text) > 0 else default

    return os.terminal_size((number("COLUMNS", WIDTH), number("LINES", HEIGHT)))


def _colored(color: str, terminal: bool, environment: Mapping[str, str]) -> bool:
    if color != AUTO:
        return color == ALWAYS
    if environment.get("NO_COLOR"):
        return False
    forced = environment.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return terminal and environment.get("TERM") != "dumb"
