"""The recipes of ``docs/recipes.md``, executed in small projects."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.native.building import environment

_PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
_PROJECTS = Path(__file__).parent
_BIN = Path(sys.executable).parent


def section(heading: str) -> str:
    """The text of a section."""
    return _PAGE.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def commands(heading: str) -> str:
    """The shell commands of a section."""
    (found,) = re.findall(r"^```sh\n(.*?)^```$", section(heading), re.MULTILINE | re.DOTALL)
    return str(found)


def project(name: str, directory: Path) -> Path:
    """A copy of a project."""
    return Path(shutil.copytree(_PROJECTS / name, directory / name))


def cook(text: str, directory: Path, more: Mapping[str, str] | None = None) -> str:
    """Execute commands as a user would, with trodden on the path; return what they print."""
    settings = environment(more)
    settings["PATH"] = f"{_BIN}:{settings['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", text], cwd=directory, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
