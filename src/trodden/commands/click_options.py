"""Options that several verbs share, for the verbs that click parses.

Declarations of instrumentation are imported by the verbs that build something, and not by those that report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from trodden.native.options.given import Given
    from trodden.native.options.option import Option

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def process_option(verb: _Verb) -> _Verb:
    """Add ``--process PID``, which picks what one process of a profile has counted."""
    return click.option(
        "--process", metavar="PID", help="Only the counts of this process; PID.N if several had that PID."
    )(verb)


def function_option(verb: _Verb) -> _Verb:
    """Add ``--function GLOB``, which picks functions by name."""
    return click.option("--function", metavar="GLOB", help="Only the functions whose name matches.")(verb)


def json_option(verb: _Verb) -> _Verb:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(verb)


def instrumentation_options(verb: str) -> Callable[[_Verb], _Verb]:
    """Add the options of instrumentation that a verb takes, each read as its declaration says."""
    from trodden.native.options.declarations import OPTIONS

    def decorate(command: _Verb) -> _Verb:
        for option in reversed([each for each in OPTIONS.values() if verb in each.takers]):
            flag, text = f"--{option.name}", f"{option.help[0].upper()}{option.help[1:]}."
            if option.switch:
                command = click.option(flag, is_flag=True, help=text)(command)
            else:
                metavar = "|".join(option.alternatives(verb)) or option.values.metavar
                read = partial(_read, option, verb)
                command = click.option(flag, callback=read, metavar=metavar, help=text)(command)
        return command

    return decorate


def _read(
    option: Option[Any], verb: str, ctx: click.Context, param: click.Parameter, value: str | None
) -> Given | None:
    from trodden.native.options.given import Dialect, given, narrowed

    return None if value is None else narrowed(given(option, value, Dialect.VERB), verb)


def options_given(chosen: Mapping[str, object]) -> list[Given]:
    """The options of instrumentation among a verb's arguments."""
    from trodden.native.options.declarations import OPTIONS
    from trodden.native.options.given import Dialect, Given, given

    found: list[Given] = []
    for keyword, value in chosen.items():
        if isinstance(value, Given):
            found.append(value)
        elif value:
            found.append(given(OPTIONS[keyword.replace("_", "-")], True, Dialect.VERB))
    return found
