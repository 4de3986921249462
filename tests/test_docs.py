"""What the pages show of the examples is what the tool prints, and their links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from trodden.commands.verbs import trodden as group

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_SHOWN = re.compile(r"^```\n\$ trodden (show examples/[^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]*)\)")


def _anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked to, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page: Path) -> None:
    for link in _LINK.findall(page.read_text("utf-8")):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


def test_graphs_are_shown_as_the_tool_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = [shown for page in PAGES for shown in _SHOWN.findall(page.read_text("utf-8"))]
    assert len(found) >= 2
    for command, text in found:
        printed = CliRunner().invoke(group, shlex.split(command), catch_exceptions=False).output
        parts = [part.strip("\n") for part in text.split("…\n")]
        assert "\n" in parts[0]
        at = 0
        for part in parts:
            at = printed.find(part, at)
            assert at >= 0, (command, part)
            at += len(part)
