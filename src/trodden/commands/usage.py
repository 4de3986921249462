"""Usage texts of the verbs that take another program's arguments, made from the declarations of options."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from trodden.native.options.declarations import OPTIONS
from trodden.native.options.option import Option

_WIDTH = 108
_COLUMN = 26
_REPORT = (
    "--report / --quiet",
    "print the report always / never (default: when standard error is a terminal)",
)


@dataclass(frozen=True)
class Usage:
    """How a verb is called: lines of a synopsis, what it does, and its options with their meanings."""

    synopsis: tuple[str, ...]
    about: str
    rows: tuple[tuple[str, str], ...]
    column: int = _COLUMN

    def text(self) -> str:
        """The usage as it is printed."""
        lines, about = "\n       ".join(self.synopsis), textwrap.fill(self.about, 100)
        return f"usage: {lines}\n\n{about}\n\noptions:\n{_columns(self.rows, self.column)}"


def usage_of(verb: str) -> Usage:
    """The usage of a verb that takes another program's arguments."""
    return {"run": _run, "cargo": _cargo}[verb]() if verb in ("run", "cargo") else _compiler(verb)


def run_usage() -> str:
    """What ``trodden run --help`` prints."""
    return usage_of("run").text()


def cargo_usage() -> str:
    """What ``trodden cargo --help`` prints."""
    return usage_of("cargo").text()


def compiler_usage(verb: str) -> str:
    """What ``--trodden-help`` prints for a compiler; ``--help`` is the compiler's own."""
    return usage_of(verb).text()


def _run() -> Usage:
    return Usage(
        (
            "trodden run [options] prog.c [more.c ...] [compiler flags] -- [program arguments]",
            "trodden run [options] COMMAND [its arguments]",
        ),
        "Any command is run: an instrumented program, a script, make check, python. The profile is that of"
        " all instrumented programs and libraries that it executes.",
        (
            ("-o FILE", "the profile to write (default trodden.trod)"),
            *_flag_rows("run"),
            ("--target TRIPLE", "compile for another machine"),
            ("--wait", "wait for all processes that the program has started, not only for the program"),
            ("--preload", "for instrumented libraries in programs without probes: see how these end"),
            (
                "--trace-limit SIZE",
                "with traces: how much a process may record, as 16M; then its trace ends",
            ),
            ("--trace-ring SIZE", "with traces: how much each thread keeps, as 1M: the last part"),
            _REPORT,
        ),
    )


def _cargo() -> Usage:
    return Usage(
        ("trodden cargo [options] build|run|test|bench|... [cargo's arguments]",),
        "Programs, tests and benchmarks that cargo runs leave a profile behind; what it only builds can be"
        " run with trodden run. Everything is built in a directory trodden below cargo's own.",
        (
            ("-o FILE", "the profile to write (default trodden.trod)"),
            ("--deps", "probes in dependencies too, not only in the crates of the workspace"),
            *_flag_rows("cargo"),
            _REPORT,
        ),
    )


def _compiler(verb: str) -> Usage:
    taken = [option for option in OPTIONS.values() if verb in option.takers]
    rows = [(f"{option.flag}={option.values.metavar}", _described(option, verb)) for option in taken]
    if verb == "rustc":
        rows.append(("--trodden-rustc=PATH", "the rustc to use (default: $RUSTC, or rustc)"))
    return Usage(
        (f"trodden {verb} [--trodden-OPTION=VALUE ...] [arguments of the compiler]",),
        "Options can also be set in the environment: TRODDEN_MAX_PATHS=4096 for --trodden-max-paths=4096.",
        tuple(rows),
        36,
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
