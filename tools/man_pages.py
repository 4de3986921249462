"""Write the manual pages in man/, one for each verb; ``make docs`` does, and a test compares them.

They are made from the options of click's commands, the usage of the verbs that take another program's
arguments, and the tables of environment variables and exit statuses in the manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from trodden.commands.usage import usage_of
from trodden.commands.verbs import trodden as group
from trodden.version import __version__

ROOT = Path(__file__).parents[1]
HOME = ROOT / "man"
MANUAL = ROOT / "docs" / "command-line.md"


def pages() -> dict[str, str]:
    """All pages by the names of their files."""
    context = click.Context(group, info_name="trodden")
    verbs = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    found = {"trodden.1": _overview([(name, each) for name, each in verbs if each is not None])}
    for name, command in verbs:
        assert command is not None
        found[f"trodden-{name}.1"] = _verb(context, name, command)
    return found


def _overview(verbs: Sequence[tuple[str, click.Command]]) -> str:
    lines = [
        *_head("trodden", "exact block, edge and path profiles of native programs"),
        *_section("SYNOPSIS", [".B trodden", ".I COMMAND", "[", ".I ARGUMENTS", "]"]),
        *_section("DESCRIPTION", [_text(str(group.help))]),
        *_section("COMMANDS", _terms((f"trodden-{name}(1)", str(each.short_help)) for name, each in verbs)),
        *_section("ENVIRONMENT", _terms((row[0], row[2]) for row in _table("Environment"))),
        *_section("FILES", _terms(_FILES)),
        *_section("EXIT STATUS", _terms(_table("Exit statuses"))),
    ]
    return "".join(f"{line}\n" for line in lines)


_FILES = (
    ("trodden.toml, pyproject.toml", "settings of a project; the nearest one above the working directory"),
    ("trodden.trod", "the profile that trodden run and trodden collect write by default"),
    ("trodden.PID.raw", "the counts of a program that ran without trodden run"),
)


def _verb(context: click.Context, name: str, command: click.Command) -> str:
    if command.params:
        own = click.Context(command, parent=context, info_name=name)
        pieces = command.collect_usage_pieces(own)
        synopsis = [f".B trodden {_escaped(name)}", _text(" ".join(pieces))]
        about = [line for part in (command.help or "").split("\n\n") for line in (".PP", *_paragraph(part))][
            1:
        ]
        flags = [each for each in command.get_params(own) if isinstance(each, click.Option)]
        options = _terms(record for each in flags if (record := each.get_help_record(own)))
    else:
        usage = usage_of(name)
        synopsis = [line for text in usage.synopsis for line in (_text(text), ".br")][:-1]
        about, options = [_text(str(command.short_help)), ".PP", _text(usage.about)], _terms(usage.rows)
    lines = [
        *_head(f"trodden-{name}", str(command.short_help).rstrip(".")),
        *_section("SYNOPSIS", synopsis),
        *_section("DESCRIPTION", about),
        *_section("OPTIONS", options),
        *_section("SEE ALSO", [".BR trodden (1)"]),
    ]
    return "".join(f"{line}\n" for line in lines)


def _head(name: str, what: str) -> list[str]:
    title = name.upper().replace("-", "\\-")
    return [
        f'.TH "{title}" "1" "" "trodden {__version__}" "User Commands"',
        *_section("NAME", [f"{_escaped(name)} \\- {_escaped(what[0].lower() + what[1:])}"]),
    ]


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f'.SH "{title}"', *lines]


def _terms(rows: Iterable[Sequence[str]]) -> list[str]:
    return [line for term, meaning in rows for line in (".TP", f"\\fB{_escaped(term)}\\fP", _text(meaning))]


def _paragraph(text: str) -> Iterator[str]:
    """A paragraph of click's help; one that starts with \\b keeps its lines."""
    if not text.lstrip().startswith("\b"):
        yield _text(text)
        return
    yield ".nf"
    yield from (_text(line, " ") for line in text.strip().lstrip("\b").strip().splitlines())
    yield ".fi"


def _text(text: str, blanks: str = r"\s+") -> str:
    """One line of running text; a full stop at its start would be a request."""
    line = _escaped(re.sub(blanks, " ", text).strip())
    return f"\\&{line}" if line.startswith((".", "'")) else line


def _escaped(text: str) -> str:
    """Text that stands for itself: words in backquotes are bold, and links are their text."""
    plain = re.sub(r"\[([^\]]+)\]\([^)\s]*\)", r"\1", text).replace("\\|", "|")
    plain = plain.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fP", plain)


def _table(heading: str) -> Iterator[list[str]]:
    """The rows of the first table below a heading of the manual."""
    section = MANUAL.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    for row in rows[1:]:
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def main() -> None:
    """Write all pages, and remove those of verbs that are no more."""
    HOME.mkdir(exist_ok=True)
    found = pages()
    for path in HOME.glob("*.1"):
        if path.name not in found:
            path.unlink()
    for name, text in found.items():
        (HOME / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
