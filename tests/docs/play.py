"""Executes the examples of a page one after the other, in one directory, as a reader would."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.fences import Fence, fences
from tests.docs.shell import agrees, printed, session
from tests.docs.stages import STAGES


def play(page: Path, directory: Path) -> None:
    """Execute everything on a page that can be; what is shown has to be what is printed."""
    STAGES[page](directory)
    for fence in fences(page):
        play_fence(fence, directory)


def play_fence(fence: Fence, directory: Path) -> None:
    """Execute one example, or write the file that it is."""
    if fence.kind == "session":
        commands = session(fence.text)
        outputs = printed([each.words for each in commands], directory)
        for command, output in zip(commands, outputs, strict=True):
            right = not command.shown or agrees(command.shown, output, directory)
            assert right, f"{fence}: $ {command.words} prints\n{output}\ninstead of\n{command.shown}"
    elif fence.kind == "script":
        printed([fence.text], directory)
    elif fence.kind == "python":
        script = directory / f"example{fence.line}.py"
        script.write_text(fence.text)
        printed([f"{sys.executable} {script.name}"], directory)
    elif fence.kind == "file":
        (directory / fence.name).write_text(fence.text)
