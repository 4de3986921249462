"""The manual pages: up to date, one for each verb, with requests that every formatter knows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import click
import pytest

from tools.man_pages import HOME, pages
from trodden.commands.verbs import trodden as group

ROOT = Path(__file__).parents[1]
PAGES = pages()


def test_the_pages_are_up_to_date() -> None:
    written = {path.name: path.read_text("utf-8") for path in HOME.glob("*")}
    assert written == PAGES, "run make docs"


def test_they_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["setuptools"]["data-files"] == {"share/man/man1": ["man/*.1"]}


def test_every_verb_has_one_that_names_its_options() -> None:
    context = click.Context(group, info_name="trodden")
    for verb in group.list_commands(context):
        page = PAGES[f"trodden-{verb}.1"].replace("\\-", "-")
        command = group.get_command(context, verb)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert all(name in page for name in parameter.opts), (verb, parameter.opts)
    assert "--max-paths" in PAGES["trodden-run.1"].replace("\\-", "-")
    assert "--trodden-max-paths" in PAGES["trodden-cc.1"].replace("\\-", "-")


@pytest.mark.parametrize("name", PAGES)
def test_requests(name: str) -> None:
    lines = PAGES[name].splitlines()
    assert lines[0].startswith(".TH ")
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".TP", ".PP", ".B", ".BR", ".I", ".br", ".nf", ".fi"}
    # A hyphen is a minus sign of a command line, and every escape is one of these.
    assert not re.search(r"(?<!\\)-", PAGES[name].partition("\n")[2])
    assert set(re.findall(r"\\(.)", PAGES[name])) <= set("-ef&")
    assert all(line.count(r"\fB") == line.count(r"\fP") for line in lines)
