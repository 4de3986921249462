"""The page of dependencies has a row for every package that pyproject.toml names."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def test_every_dependency_has_a_row() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    optional = project["project"]["optional-dependencies"].values()
    wanted = chain(project["build-system"]["requires"], project["project"]["dependencies"], *optional)
    names = {match.group() for each in wanted if (match := _NAME.match(each)) is not None}
    page = (ROOT / "docs" / "dependencies.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")]
    documented = {name for row in rows for name in _NAME.findall(row)}
    assert names <= documented
