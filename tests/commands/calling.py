"""Calling the verbs: through click, as a process of their own, and at a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from click.testing import CliRunner, Result

from trodden.commands.verbs import trodden as group

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def click(*arguments: object) -> Result:
    return CliRunner().invoke(group, [str(each) for each in arguments], catch_exceptions=False)


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trodden", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)


def at_a_terminal(*arguments: str, **variables: str) -> str:
    """What a terminal 160 characters wide gets to see, without a pager unless one is named."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "trodden", *arguments]
    environment = {**ENVIRONMENT, "COLUMNS": "160", "TERM": "xterm", "PAGER": "cat", **variables}
    del environment["TRODDEN_FORMAT"]
    with subprocess.Popen(command, stdout=follower, stderr=follower, env=environment) as running:
        os.close(follower)
        text = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            if not part:
                break
            text += part
    os.close(leader)
    assert running.returncode == 0
    return text.decode()
