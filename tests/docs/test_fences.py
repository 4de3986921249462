"""What is no command is checked against what it describes; no fenced part of a page is without a check."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from tests.docs.fences import DOCS, PAGES, ROOT, Fence, fences, of_kind
from tests.docs.shell import printed
from tests.docs.stages import STAGES
from trodden.commands.usage import run_usage
from trodden.commands.verbs import trodden as group
from trodden.weigh.heuristics.rates import parse_rates

RECIPES = DOCS / "recipes.md"
_REMARK = re.compile(r"(?<=\S) {2,}\S.*$", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
_VERB = re.compile(r"\btrodden ([\w+][\w+-]*)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


# JSON


def _schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "src/trodden/schemas" / f"{name}.json").read_text("utf-8"))
    return found


def _schema_of(document: Any) -> dict[str, Any]:
    if "steps" not in document:
        return _schema("score" if "local_blocks" in document else "export")
    report = _schema("report")
    return {**report["properties"]["paths"]["items"], "$defs": report["$defs"]}


@pytest.mark.parametrize("fence", of_kind("json"), ids=str)
def test_documents_follow_their_schemas(fence: Fence) -> None:
    """Without the remarks on the right; where something is left out there are at least no other keys."""
    text = _REMARK.sub("", fence.text)
    document = json.loads(text.replace("…", "null"))
    if "rates" in document:
        assert parse_rates(fence.text, str(fence)).name == document["name"]
        return
    schema = _schema_of(document)
    assert document.keys() <= schema["properties"].keys()
    if "…" not in text:
        Draft202012Validator(schema).validate(document)


# Synopses and targets


def _options_of(verb: str) -> set[str]:
    command = group.get_command(click.Context(group), verb)
    assert command is not None, verb
    if verb == "run":
        return set(_OPTION.findall(run_usage()))
    flags = [each for each in command.params if isinstance(each, click.Option)]
    return {name for each in flags for name in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("fence", of_kind("usage"), ids=str)
def test_synopses_name_verbs_and_their_options(fence: Fence) -> None:
    for line in re.sub(r"\n +", " ", fence.text).splitlines():
        options = [_options_of(verb) for verb in _VERB.findall(line)]
        assert options, line
        assert set(_OPTION.findall(line)) <= set().union(*options), line


@pytest.mark.parametrize("fence", of_kind("make"), ids=str)
def test_targets_of_make_exist(fence: Fence) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (targets,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    named = re.findall(r"^make (\w+)", fence.text, re.MULTILINE)
    assert set(named) <= set(targets.split())
    assert len(named) == len(fence.text.splitlines())


# Parts of programs


def _dump(text: str, directory: Path) -> None:
    """A process that ends after a dump has left the counts of both in its file."""
    declaration, _, body = text.partition("\n\n")
    (directory / "dump.c").write_text(f"{declaration}\nint main(void) {{\n{body}return 0;\n}}\n")
    printed(["trodden cc dump.c -o dump && ./dump && trodden collect trodden.*.raw -o dump.trod"], directory)


def _unit(text: str, directory: Path) -> None:
    header = (ROOT / "src/trodden/native/runtime/trodden.h").read_text("utf-8")
    assert " ".join(text.split()) in " ".join(_COMMENT.sub("", header).split())


def _workflow(text: str, directory: Path) -> None:
    """``tests/recipes`` executes its steps."""
    assert 'section("Continuous integration")' in (ROOT / "tests/recipes/test_recipes.py").read_text("utf-8")


def _activation(text: str, directory: Path) -> None:
    assert "VENV ?= .venv\n" in (ROOT / "Makefile").read_text("utf-8")


def _drawing(text: str, directory: Path) -> None:
    packages = {path.name for path in (ROOT / "src/trodden").iterdir() if path.is_dir()}
    verbs = {"reads", "lowers", "and", "runs"}
    assert set(text.replace("→", " ").split()) - verbs <= packages


OTHERS = {
    "void trodden_dump": _dump,
    "struct trodden_unit": _unit,
    "name: paths": _workflow,
    ". .venv/bin/activate": _activation,
    "native reads → weigh": _drawing,
}
"""How the others are checked, by their beginnings."""


@pytest.mark.parametrize("fence", of_kind("other"), ids=str)
def test_others(fence: Fence, tmp_path: Path) -> None:
    """A new one has to be executed, or to be checked here."""
    (check,) = [check for start, check in OTHERS.items() if fence.text.startswith(start)]
    check(fence.text, tmp_path)


# Nothing is left out


@pytest.mark.parametrize("page", [page for page in PAGES if page not in STAGES], ids=lambda page: page.name)
def test_commands_are_on_pages_that_are_executed(page: Path) -> None:
    found = [each for each in fences(page) if each.kind in ("session", "script", "python")]
    if page == RECIPES:
        _assert_recipes_are_executed()
    else:
        assert found == [], "a page with examples needs a stage"


def _assert_recipes_are_executed() -> None:
    """Each by the test that takes its commands from the page, by the name of the section."""
    tests = [*(ROOT / "tests/recipes").glob("test_*.py"), *(ROOT / "recipes").glob("test_*.py")]
    sources = "".join(path.read_text("utf-8") for path in tests)
    text = RECIPES.read_text("utf-8")
    headings = [part.partition("\n")[0] for part in text.split("\n## ")[1:] if "```sh\n" in part]
    assert headings
    for heading in headings:
        assert f'"{heading}"' in sources or f"'{heading}'" in sources, heading
