"""The manual pages in the formatter that ``man`` uses: no warnings, and what they are to say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from recipes.debian import command, environment

PAGES = sorted((Path(__file__).parents[1] / "man").glob("*.1"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_formatted_without_warnings(page: Path) -> None:
    words = [command("groff", "groff-base"), "-man", "-k", "-ww", "-Tutf8", str(page)]
    variables = {**os.environ, **environment("groff-base")}
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "User Commands" in done.stdout
    assert page.stem.upper().replace("-", "‐") in done.stdout.replace("-", "‐")
