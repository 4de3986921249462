"""Usage texts and the tables of the manual, made from the declarations of options.

``python -m trodden.commands.reference README.md docs/command-line.md`` (``make docs``) rewrites the parts of
these pages that stand between ``<!-- NAME: generated -->`` and ``<!-- NAME: end -->``.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from trodden.errors import UsageError
from trodden.native.options.declarations import OPTIONS
from trodden.native.options.option import PYTHON, Option

_WIDTH = 108
_COLUMN = 26
_PART = re.compile(r"(<!-- ([\w-]+): generated -->\n).*?(<!-- \2: end -->)", re.DOTALL)


def run_usage() -> str:
    """What ``trodden run --help`` prints."""
    rows = [
        ("-o FILE", "the profile to write (default trodden.trod)"),
        *_flag_rows("run"),
        ("--target TRIPLE", "compile for another machine"),
        ("--wait", "wait for all processes that the program has started, not only for the program"),
        _REPORT,
    ]
    return (
        "usage: trodden run [options] prog.c [more.c ...] [compiler flags] -- [program arguments]\n"
        "       trodden run [options] ./instrumented-program [program arguments]\n\n"
        f"options:\n{_columns(rows)}"
    )


def cargo_usage() -> str:
    """What ``trodden cargo --help`` prints."""
    rows = [
        ("-o FILE", "the profile to write (default trodden.trod)"),
        ("--deps", "probes in dependencies too, not only in the crates of the workspace"),
        *_flag_rows("cargo"),
        _REPORT,
    ]
    return (
        "usage: trodden cargo [options] build|run|test|bench|... [cargo's arguments]\n\n"
        "Programs, tests and benchmarks that cargo runs leave a profile behind; what it only builds can be\n"
        "run with trodden run. Everything is built in a directory trodden below cargo's own.\n\n"
        f"options:\n{_columns(rows)}"
    )


def compiler_usage(verb: str) -> str:
    """What ``--trodden-help`` prints for a compiler; ``--help`` is the compiler's own."""
    taken = [option for option in OPTIONS.values() if verb in option.takers]
    rows = [(f"{option.flag}={option.values.metavar}", _described(option, verb)) for option in taken]
    if verb == "rustc":
        rows.append(("--trodden-rustc=PATH", "the rustc to use (default: $RUSTC, or rustc)"))
    return (
        f"usage: trodden {verb} [--trodden-OPTION=VALUE ...] [arguments of the compiler]\n\n"
        "Options can also be set in the environment: TRODDEN_MAX_PATHS=4096 for --trodden-max-paths=4096.\n\n"
        f"options:\n{_columns(rows, 36)}"
    )


_REPORT = (
    "--report / --quiet",
    "print the report always / never (default: when standard error is a terminal)",
)


def _flag_rows(verb: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for option in OPTIONS.values():
        if verb in option.takers:
            value = "" if option.switch else f" {option.values.metavar}"
            rows.append((f"--{option.name}{value}", _described(option, verb)))
    return rows


def _described(option: Option[Any], verb: str) -> str:
    """One line of help, with the values to choose from."""
    values = option.choices(verb)
    if option.switch or not values:
        return option.help
    if values != option.alternatives(verb):
        return f"{option.help} (default {option.default})"
    named = [f"{value} (default)" if value == option.default else value for value in values]
    return f"{option.help}: {', '.join(named[:-1])} or {named[-1]}"


def _columns(rows: Iterable[tuple[str, str]], column: int = _COLUMN) -> str:
    lines: list[str] = []
    for term, meaning in rows:
        start = f"  {term}".ljust(column)
        if len(start) > column:
            lines.append(start)
            start = " " * column
        lines += textwrap.wrap(
            meaning, _WIDTH, initial_indent=start, subsequent_indent=" " * column, break_on_hyphens=False
        )
    return "".join(f"{line}\n" for line in lines)


def readme_table() -> str:
    """The options that the README lists."""
    rows = ((f"`{option.name}`", option.summary) for option in OPTIONS.values() if option.summary)
    return _table(("option", "values"), rows)


def reference_table() -> str:
    """All values of the options that every way of building takes."""
    return _reference(option for option in OPTIONS.values() if PYTHON in option.takers)


def compiler_table() -> str:
    """All values of the options that only compilers take."""
    return _reference(option for option in OPTIONS.values() if PYTHON not in option.takers)


def _reference(options: Iterable[Option[Any]]) -> str:
    rows = (
        (f"`{option.name}`" if number == 0 else "", values, meaning)
        for option in options
        for number, (values, meaning) in enumerate(option.reference)
    )
    return _table(("option", "values", "meaning"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return text.replace("|  |", "| |").replace("| --- |", "|---|").replace(" --- |", "---|")


def run_signature() -> str:
    """The keywords of ``trodden.run`` with their types."""
    from trodden.api.runs import run

    return _signature("trodden.run", run)


def estimate_signature() -> str:
    """The keywords of ``trodden.estimate`` with their types."""
    from trodden.api.estimates import estimate

    return _signature("trodden.estimate", estimate)


def _signature(name: str, function: Callable[..., object]) -> str:
    parameters = "".join(f"    {each},\n" for each in inspect.signature(function).parameters.values())
    return f"```python\n{name}(\n{parameters.replace(chr(39), '')})\n```\n"


PARTS = {
    "choices": readme_table,
    "options": reference_table,
    "compiler-options": compiler_table,
    "run-signature": run_signature,
    "estimate-signature": estimate_signature,
}
"""The generated parts of the manual by name."""


def rewritten(page: str) -> str:
    """A page with its generated parts as they are now."""
    return _PART.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}{part[3]}", page)


def main(pages: Sequence[str]) -> int:
    """Rewrite the pages that are named."""
    if not pages:
        raise UsageError("name the pages to rewrite: README.md docs/command-line.md")
    for page in map(Path, pages):
        text = page.read_text("utf-8")
        now = rewritten(text)
        if now != text:
            page.write_text(now, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
