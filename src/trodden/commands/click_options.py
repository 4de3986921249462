"""Options that several verbs share, for the verbs that click parses.

Declarations of instrumentation are imported by the verbs that build something, and not by those that report.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from trodden.commands.showing.presentation import FORMATS, JSON, TABLE, Presentation
from trodden.errors import InputMissing, UsageError
from trodden.report.render.screen import AUTO, COLORS

if TYPE_CHECKING:
    from trodden.native.options.given import Given
    from trodden.native.options.option import Option

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


PROFILE = "trodden.trod"
"""The profile that ``trodden run`` writes, and verbs that show one read, unless another is named."""


def file_argument(verb: _Verb) -> _Verb:
    """Add the argument ``[FILE]``, a profile; the verb gets its name, ``file``."""
    return click.argument(
        "file", metavar="[FILE]", type=click.Path(), required=False, callback=_named_or_default
    )(verb)


def files_argument(verb: _Verb) -> _Verb:
    """Add the argument ``[FILE...]``, profiles; the verb gets their names, ``files``."""
    return click.argument(
        "files", metavar="[FILE...]", type=click.Path(), nargs=-1, callback=_named_or_default
    )(verb)


def _named_or_default(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    if value or ctx.resilient_parsing:
        return value
    if not os.path.exists(PROFILE):
        raise InputMissing(f"name a profile; there is no {PROFILE} here, which trodden run writes by default")
    return (PROFILE,) if param.nargs == -1 else PROFILE


def process_option(verb: _Verb) -> _Verb:
    """Add ``--process PID``, which picks what one process of a profile has counted."""
    return click.option(
        "--process", metavar="PID", help="Only the counts of this process; PID.N if several had that PID."
    )(verb)


def program_option(verb: _Verb) -> _Verb:
    """Add ``--program NAME``, which picks one of the programs and libraries that a profile is of."""
    return click.option(
        "--program",
        metavar="NAME",
        help="Only what this program has executed, or what was executed in this library.",
    )(verb)


def function_option(verb: _Verb) -> _Verb:
    """Add ``--function GLOB``, which picks functions by name."""
    return click.option("--function", metavar="GLOB", help="Only the functions whose name matches.")(verb)


class Number(click.ParamType[int]):
    """A whole number of at least ``least``."""

    name = "number"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        try:
            number = int(value)
        except ValueError:
            number = self._least - 1
        if number < self._least:
            flag = param.opts[0] if param is not None else "number"
            raise UsageError(f"{flag} {value}: needs a whole number, {self._least} or more")
        return number


class _Choice(click.Choice[str]):
    """One of a few words, which an environment variable may choose too; messages name what was used."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word."""
        by_variable = (
            ctx is not None
            and param is not None
            and param.name is not None
            and ctx.get_parameter_source(param.name) is ParameterSource.ENVIRONMENT
        )
        if by_variable and param is not None and value not in self.choices:
            words = ", ".join(self.choices)
            raise UsageError(f"{param.envvar}={value}: choose one of {words}, or unset the variable")
        return super().convert(value, param, ctx)


_Decorator = Callable[[_Verb], _Verb]


def output_options(*more: str) -> _Decorator[Callable[..., Any]]:
    """Add ``--format``, ``--color`` and the pager; the verb gets one :class:`Presentation`, ``shown``.

    ``more`` are formats that only this verb has.
    """

    def decorate(verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def showing(*args: Any, format: str, as_json: bool, color: str, pager: bool, **rest: Any) -> Any:
            if as_json and _by_flag("format") and format != JSON:
                raise UsageError(f"--json: contradicts --format {format}; leave one of them out")
            chosen = Presentation(JSON if as_json else format, _color(color), pager)
            return verb(*args, shown=chosen, **rest)

        options: tuple[_Decorator[Callable[..., Any]], ...] = (
            click.option(
                "--format",
                type=_Choice((*FORMATS, *more)),
                envvar="TRODDEN_FORMAT",
                default=TABLE,
                show_default=True,
                help="Tables for people; tab-separated rows or JSON for programs, which have all rows.",
            ),
            click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
            color_option,
            pager_option,
        )
        command: Callable[..., Any] = showing
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def text_options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--color`` and the pager to a verb that has one format; it gets a ``shown`` as well."""

    @wraps(verb)
    def showing(*args: Any, color: str, pager: bool, **rest: Any) -> Any:
        return verb(*args, shown=Presentation(TABLE, _color(color), pager), **rest)

    return color_option(pager_option(showing))


def color_option(verb: _Verb) -> _Verb:
    """Add ``--color``."""
    return click.option(
        "--color",
        type=click.Choice(COLORS),
        default=AUTO,
        show_default=True,
        help="Colours; auto: at a terminal, unless NO_COLOR is set, and always if FORCE_COLOR is.",
    )(verb)


def pager_option(verb: _Verb) -> _Verb:
    """Add ``--no-pager``."""
    return click.option(
        "--pager/--no-pager",
        default=True,
        help="At a terminal, show what is longer than the screen with $PAGER (default less).",
    )(verb)


def _by_flag(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


def _color(color: str) -> str:
    """The choice of a flag, or that of the configuration file unless the environment has one."""
    asked = any(os.environ.get(variable) for variable in ("NO_COLOR", "FORCE_COLOR"))
    return AUTO if asked and not _by_flag("color") else color


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
