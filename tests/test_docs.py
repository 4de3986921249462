"""The pages: links resolve, options are described, and the files that are named exist.

``tests/docs`` has their examples.
"""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tools.manual import PAGES as GENERATED
from tools.manual import PARTS, rewritten
from trodden.commands.usage import cargo_usage, compiler_usage, run_usage
from trodden.commands.verbs import trodden as group
from trodden.native.options.declarations import OPTIONS

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
BASES = [ROOT / base for base in (".", "src/trodden", "tests", "src/trodden/native", "docs")]
"""Paths on the pages are relative to one of these."""
SHOWING = ("report", "annotate", "coverage", "stats", "diff", "score", "calibrate")
"""The verbs whose options for formats, colours and pagers are described once, for all of them."""
_SPAN = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"[\w./*-]*[\w*-]+\.(?:py|cfg|toml|test|[ch])|(?:[\w-]+/)+")
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


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_generated_parts_are_up_to_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == rewritten(text), "run make docs"


def test_every_generated_part_is_on_a_page() -> None:
    pages = "".join(page.read_text("utf-8") for page in GENERATED)
    assert all(f"<!-- {part}: generated -->" in pages and f"<!-- {part}: end -->" in pages for part in PARTS)


def _section(heading: str) -> str:
    text = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def _parsed_by_click() -> list[str]:
    context = click.Context(group)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return [name for name, command in commands.items() if command is not None and command.params]


@pytest.mark.parametrize("verb", _parsed_by_click())
def test_the_section_of_a_verb_names_its_options(verb: str) -> None:
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    section = _section(f"trodden {verb}") + (_section("Showing results") if verb in SHOWING else "")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            names = [*parameter.opts, *parameter.secondary_opts]
            assert any(re.search(rf"{name}\b", section) for name in names), names


def test_usage_names_the_options_that_a_verb_takes() -> None:
    for verb, usage in (("run", run_usage()), ("cargo", cargo_usage())):
        named = re.findall(r"^  --([\w-]+)", usage, re.MULTILINE)
        taken = [name for name, option in OPTIONS.items() if verb in option.takers]
        assert [name for name in named if name in OPTIONS] == taken
        assert all(len(line) <= 110 for line in usage.splitlines())
    for verb in ("cc", "c++", "rustc"):
        named = re.findall(r"^  --trodden-([\w-]+)=", compiler_usage(verb), re.MULTILINE)
        assert [name for name in named if name in OPTIONS] == list(OPTIONS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for span in _SPAN.findall(text):
        if _FILE.fullmatch(span) and _is_ours(span):
            assert _exists(span), f"{page.name} names {span}"


def test_files_and_modules_that_docstrings_name_exist() -> None:
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]):
        text = path.read_text("utf-8")
        for span in re.findall(r"``([^`\n]+)``", text):
            if _FILE.fullmatch(span) and "/" in span and _is_ours(span):
                assert _exists(span), f"{path} names {span}"
        for module in re.findall(r":mod:`(trodden(?:\.\w+)*)`", text):
            found = ROOT / "src" / module.replace(".", "/")
            assert found.is_dir() or found.with_suffix(".py").is_file(), f"{path} names {module}"


def _is_ours(name: str) -> bool:
    """Whether a name is that of a file of the project: those of a user's sources have other directories."""
    top, slash, _ = name.partition("/")
    return any((base / top).is_dir() for base in BASES) if slash else name.endswith(".py")


def _exists(name: str) -> bool:
    """Whether a path exists below one of the bases; a bare module name anywhere in the source will do."""
    if any(next(base.glob(name), None) is not None for base in BASES):
        return True
    return "/" not in name and next((ROOT / "src").rglob(name), None) is not None
