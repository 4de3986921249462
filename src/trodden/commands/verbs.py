"""The verbs that click parses, as one group; each verb's module is imported when it is called."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module

import click

from trodden.commands.completed_words import VARIABLE, completed_as
from trodden.commands.showing.defaults import reading_defaults
from trodden.errors import UsageError
from trodden.version import __version__
from trodden.visible_text import visible

_VERBS = {
    "annotate": "Show source with a count beside each line.",
    "c++": "Compile or link C++ with probes; takes a compiler's arguments.",
    "calibrate": "Measure the hit rates of branch heuristics on profiles.",
    "cargo": "Build, run or test Rust packages with probes; takes cargo's arguments.",
    "cc": "Compile or link C with probes; takes a compiler's arguments.",
    "collect": "Make a profile of the raw files that a program left behind.",
    "completion": "Print the script by which a shell completes command lines.",
    "coverage": "Show how much was executed, and the nearest paths that were not.",
    "diff": "Show where two runs diverge.",
    "estimate": "Make a profile of a program that has never run.",
    "export": "Write a profile in a format that other tools read.",
    "merge": "Merge many profiles into one.",
    "profile-of": "Make an edge or path profile of a trace.",
    "query": "Ask a trace when, how often and what happened.",
    "replay": "Show what every thread has executed, in order, from a trace.",
    "report": "Show the hottest functions, paths, blocks and edges.",
    "run": "Run an instrumented program and make a profile of it.",
    "rustc": "Compile or link Rust with probes; takes rustc's arguments.",
    "score": "Show how well an estimate, or one run, predicts another run.",
    "show": "Show a function's graph, weights, spanning tree and probes.",
    "stats": "Show how many paths there are, how long they are, and how many branch counts predict.",
}
_UNPARSED = ("c++", "cargo", "cc", "run", "rustc")


class _Verbs(click.Group):
    """A group whose commands are imported only when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            near = get_close_matches(cmd_name, _VERBS, 1)
            if near:
                raise UsageError(f"{cmd_name}: no such command; did you mean trodden {near[0]}?")
            return None
        if cmd_name in _UNPARSED:
            if VARIABLE in os.environ:
                return completed_as(cmd_name, _VERBS[cmd_name])
            return click.Command(cmd_name, short_help=_VERBS[cmd_name])
        module = cmd_name.replace("-", "_")
        command = getattr(import_module(f"trodden.commands.{module}"), module)
        assert isinstance(command, click.Command)
        command.short_help = _VERBS[cmd_name]
        return command


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="trodden")
def trodden() -> None:
    """Exactly which blocks, edges and paths a program has executed, and how often."""


def run_verbs(arguments: list[str]) -> int:
    """Run a verb; click's own errors are printed the way all others are."""
    if not arguments and VARIABLE not in os.environ:
        click.echo(trodden.get_help(click.Context(trodden, info_name="trodden")), err=True)
        return UsageError.status
    try:
        defaults = {verb: reading_defaults() for verb in _VERBS if verb in arguments}
        result = trodden.main(
            args=arguments, prog_name="trodden", standalone_mode=False, default_map=defaults
        )
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f"; see {context.command_path} --help" if context else ""
        print(f"trodden: {visible(error.format_message().rstrip('.'))}{hint}", file=sys.stderr)
        return UsageError.status
    except click.Abort:
        raise KeyboardInterrupt from None
    return result if isinstance(result, int) else 0
