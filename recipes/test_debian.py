"""Packages are fetched and unpacked without being root."""

from __future__ import annotations

import os
import subprocess

from recipes.debian import environment, fetched_command


def test_a_fetched_command_runs() -> None:
    ccache = fetched_command("ccache", "ccache")
    variables = {**os.environ, **environment("ccache")}
    printed = subprocess.run([ccache, "--version"], env=variables, capture_output=True, text=True, check=True)
    assert printed.stdout.startswith("ccache version ")
