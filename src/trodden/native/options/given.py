"""From what a user wrote to :class:`Options`: flags, variables, keywords and files are read once, here.

Every message names an option as it was given: ``--trodden-stage=x`` to a compiler, ``--stage=x`` to
another verb, ``TRODDEN_STAGE=x`` in the environment, ``stage='x'`` in Python, and by the path of a
configuration file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any

from trodden.config_file import READING, Configured
from trodden.errors import UsageError
from trodden.native.options.declarations import OPTIONS, Options
from trodden.native.options.option import FLAG_PREFIX, VARIABLE_PREFIX, Option, variable_of
from trodden.native.options.values import Text, nearest, wrong_choice

OTHER_VARIABLES = (
    "TRODDEN_FILE",
    "TRODDEN_CONFTEST",
    "TRODDEN_CACHE",
    "TRODDEN_KEEP",
    "TRODDEN_FORMAT",
    "TRODDEN_PAGER",
    "TRODDEN_QUIET",
    "TRODDEN_TRACE_DRAINED",
    "TRODDEN_TRACE_LIMIT",
    "TRODDEN_TRACE_RING",
)
"""What the runtime, the cache, the tests in comments of Rust and reports read; no options of a build."""
_MISTYPED = 0.75
"""How alike two words are at least, where a word that is none of ours is usually somebody else's."""


class Dialect(Enum):
    """A notation for options."""

    COMPILER = "--trodden-"
    VERB = "--"
    ENVIRONMENT = "TRODDEN_"
    PYTHON = ""
    FILE = "file"

    def spell(self, name: str) -> str:
        """The name of an option as it is written here."""
        if self is Dialect.ENVIRONMENT:
            return variable_of(name)
        if self is Dialect.PYTHON:
            return name.replace("-", "_")
        if self is Dialect.FILE:
            return name
        return f"{self.value}{name}"

    def setting(self, name: str, value: object) -> str:
        """An option with its value as it is written here."""
        if self is Dialect.PYTHON:
            return f"{self.spell(name)}={value!r}"
        if self is Dialect.FILE:
            return f"{name} = {toml_text(value)}"
        return f"{self.spell(name)}={('off', 'on')[value] if isinstance(value, bool) else value}"


def toml_text(value: object) -> str:
    """A value as a configuration file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_text, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Given:
    """An option with the value that a user gave it, and the words for both."""

    option: Option[Any]
    value: Any
    name: str
    setting: str
    dialect: Dialect


def given(option: Option[Any], value: object, dialect: Dialect, name: str | None = None) -> Given:
    """An option with the value that a user wrote, checked; ``name`` is the one that was used for it."""
    called = name or option.name
    if value == "":
        example = (*option.values.choices, option.values.metavar)[0]
        raise UsageError(f"{dialect.spell(called)}: needs a value, as in {dialect.setting(called, example)}")
    setting = dialect.setting(called, value)
    try:
        return Given(option, option.values.read(value), dialect.spell(called), setting, dialect)
    except ValueError as error:
        raise UsageError(f"{setting}: {error}") from None


_BY_NAME = dict(OPTIONS) | {option.former: option for option in OPTIONS.values() if option.former}


def compiler_flags(words: Iterable[str], others: Sequence[str] = ()) -> list[Given]:
    """The options in words of a compiler's command line; ``others`` are flags that are no options."""
    found: list[Given] = []
    for word in words:
        name, _, value = word.removeprefix(FLAG_PREFIX).partition("=")
        if name not in _BY_NAME:
            raise UsageError(_no_such(FLAG_PREFIX, name, [*OPTIONS, *others]))
        found.append(given(_BY_NAME[name], value, Dialect.COMPILER, name))
    return found


def _no_such(prefix: str, name: str, known: Sequence[str]) -> str:
    near = nearest(name, known)
    if near is None:
        return f"{prefix}{name}: no such option; there are {', '.join(prefix + each for each in known)}"
    return f"{prefix}{name}: no such option; did you mean {prefix}{near}?"


class VerbFlags:
    """The options among the words of a verb that takes another program's words as well.

    ``others`` are the verb's own flags that are no options of instrumentation; they too may be mistyped.
    """

    def __init__(self, verb: str, others: Sequence[str] = ()) -> None:
        self.verb = verb
        self._options = {name: option for name, option in OPTIONS.items() if verb in option.takers}
        self._known = [*self._options, *others]

    def take(self, word: str, following: Iterator[str]) -> Given | None:
        """The option that a word is, if it is one; its value may be the word that follows.

        A word that no program is likely to know and that looks like one of ours is a mistake.
        """
        if not word.startswith("--"):
            return None
        name, equals, value = word[2:].partition("=")
        option = self._options.get(name)
        if option is None:
            self._refuse_mistyped(name)
            return None
        if equals:
            return given(option, value, Dialect.VERB)
        if option.switch:
            return given(option, True, Dialect.VERB)
        return given(option, value_of(word, following, self.verb), Dialect.VERB)

    def _refuse_mistyped(self, name: str) -> None:
        near = nearest(name, self._known, _MISTYPED)
        # A longer word is another flag: --gcc-toolchain is clang's, and not a mistyped --toolchain.
        if near is not None and near != name and abs(len(near) - len(name)) <= 2:
            raise UsageError(f"--{name}: no such option; did you mean --{near}?")


def value_of(flag: str, following: Iterator[str], verb: str) -> str:
    """The word after a flag that needs a value."""
    value = next(following, None)
    if value is None:
        raise UsageError(f"{flag} needs a value; see trodden {verb} --help")
    return value


def keywords(chosen: Mapping[str, object], dialect: Dialect = Dialect.PYTHON) -> list[Given]:
    """The options among keyword arguments; ``None``, or nothing at all, is no choice."""
    named = ((name.replace("_", "-"), value) for name, value in chosen.items())
    return [given(OPTIONS[name], value, dialect) for name, value in named if value not in (None, (), [])]


def narrowed(found: Given, verb: str) -> Given:
    """The option, if its value is one that the verb takes."""
    choices = found.option.choices(verb)
    if verb in found.option.narrowed and found.value not in choices:
        raise UsageError(f"{found.setting}: {wrong_choice(found.value, choices)}")
    return found


def variables(environment: Mapping[str, str], overridden: Container[str] = ()) -> Iterator[Given]:
    """The options that the environment sets.  An empty variable sets nothing.

    The values of ``overridden`` options, by their keywords, are not looked at.

    A variable that looks like one of ours is a mistake, and would be a costly one if it went unnoticed: a
    build with other probes than were asked for.  Others with our prefix may be another tool's.
    """
    known = {variable_of(name): option for name, option in _BY_NAME.items()}
    for variable, value in environment.items():
        if not variable.startswith(VARIABLE_PREFIX) or variable in OTHER_VARIABLES:
            continue
        option = known.get(variable)
        if option is not None:
            if value and option.keyword not in overridden:
                name = variable.removeprefix(VARIABLE_PREFIX).lower().replace("_", "-")
                yield given(option, value, Dialect.ENVIRONMENT, name)
            continue
        bare = [each.removeprefix(VARIABLE_PREFIX) for each in (*known, *OTHER_VARIABLES)]
        near = nearest(variable.removeprefix(VARIABLE_PREFIX), bare, _MISTYPED)
        if near is not None:
            right = VARIABLE_PREFIX + near
            raise UsageError(f"{variable}: no such variable; did you mean {right}? Unset it, or rename it")


def settings(file: Configured, overridden: Container[str] = ()) -> Iterator[Given]:
    """The options that a configuration file sets; all of its keys have to be known.

    The values of ``overridden`` options, by their keywords, are not looked at.  Files are named relative to
    the directory of the configuration.
    """
    for key, value in file.values.items():
        if key in READING:
            continue
        option = OPTIONS.get(key)
        if option is None:
            near = nearest(key.replace("_", "-"), [*OPTIONS, *READING])
            meant = f"; did you mean {near}?" if near else f"; there are {', '.join([*OPTIONS, *READING])}"
            raise UsageError(f"{file.where(key)}: no such key{meant}")
        if option.keyword in overridden:
            continue
        try:
            found = given(option, value, Dialect.FILE)
        except UsageError as error:
            raise UsageError(f"{file.path}: {error}") from None
        if isinstance(option.values, Text):
            found = replace(found, value=option.values.absolute(found.value, os.path.dirname(file.path)))
        yield replace(found, name=file.where(key), setting=f"{file.path}: {found.setting}")


def choose(flags: Iterable[Given], environment: Mapping[str, str], file: Configured | None = None) -> Options:
    """The options that flags ask for, or else the environment, or else a file, checked with each other."""
    chosen: dict[str, Given] = {}
    values: dict[str, Any] = {}
    for each in flags:
        keyword = each.option.keyword
        repeated = each.option.repeats and keyword in values
        values[keyword] = values[keyword] + each.value if repeated else each.value
        chosen[keyword] = each
    options_by_flag = list(chosen.values())
    others = [partial(variables, environment)] + ([partial(settings, file)] if file else [])
    for source in others:
        for each in source(set(chosen)):
            if each.option.keyword not in chosen:
                chosen[each.option.keyword] = each
                values[each.option.keyword] = each.value
    options = Options(**values)
    if not options.paths:
        for each in options_by_flag:
            if each.option.path_profile:
                raise UsageError(f"{each.name}: goes with {each.dialect.setting('profile', 'paths')}")
    if not options.traces:
        for each in options_by_flag:
            if each.option.keyword == "trace":
                raise UsageError(f"{each.name}: goes with {each.dialect.setting('profile', 'trace')}")
    for conflict, keyword, reason in _CONFLICTS:
        if conflict(options):
            raise UsageError(f"{chosen[keyword].setting}: {reason}")
    return options


_CONFLICTS: tuple[tuple[Callable[[Options], bool], str, str], ...] = (
    (
        lambda options: options.call_paths and options.stage == "early",
        "call_paths",
        "call paths are counted at the late stage only; leave early out",
    ),
    (
        lambda options: options.paths and options.stage == "early",
        "stage",
        "paths are those of the optimised program; leave it out",
    ),
    (
        lambda options: options.paths and options.scheme not in ("edges", "checked"),
        "counters",
        "not with paths; choose checked, or leave it out",
    ),
    (
        lambda options: options.paths and bool(options.overlap) and options.context,
        "overlap",
        "not with context, which has paths of its own for what is before; leave one of them out",
    ),
    (
        lambda options: options.paths and bool(options.overlap) and options.metric == "cycles",
        "overlap",
        "not with metric cycles: a path that is extended ends where the next one does; leave one of them out",
    ),
    (
        lambda options: options.paths and bool(options.overlap) and options.last > 0,
        "overlap",
        "not with last, which keeps each path when it ends; leave one of them out",
    ),
    (
        lambda options: options.paths and options.pairs > 0 and options.context,
        "pairs",
        "not with context, which has paths of its own for what is before; leave one of them out",
    ),
    (
        lambda options: options.paths and options.pairs > 0 and options.metric == "cycles",
        "pairs",
        "not with metric cycles, which has times for single paths; leave one of them out",
    ),
    (
        lambda options: options.traces and options.stage == "early",
        "stage",
        "a trace is that of the optimised program; leave it out",
    ),
    (
        lambda options: options.traces and options.call_paths,
        "call_paths",
        "not with a trace, from which call paths follow; leave it out",
    ),
    (
        lambda options: options.traces and options.counters not in (None, "checked"),
        "counters",
        "not with a trace; choose checked, or leave it out",
    ),
)
"""What cannot be had together: the condition, the option that is named for it, and the reason."""
