"""Options are declared once, and everything that names them agrees with the declarations."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import pytest

import trodden.api.profiles
import trodden.native.options.declarations as declarations
from trodden.api.estimates import estimate
from trodden.api.runs import run
from trodden.native.options.declarations import OPTIONS, Options
from trodden.native.options.option import COMPILERS, PYTHON, Option

EACH = pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
NOT_OPTIONS = {"measured"}


def test_every_field_is_an_option() -> None:
    declared = {option.keyword for option in OPTIONS.values()}
    assert {field.name for field in fields(Options)} == declared | NOT_OPTIONS


@EACH
def test_a_default_is_a_value(option: Option[Any]) -> None:
    assert getattr(Options(), option.keyword) == option.default
    if option.default is not None:
        assert option.values.read(option.default) == option.default


@EACH
def test_the_manual_names_every_choice_and_the_default(option: Option[Any]) -> None:
    values = ", ".join(values for values, _ in option.reference)
    assert all(f"`{choice}`" in values for choice in option.values.choices)
    assert all(meaning for _, meaning in option.reference)
    if option.values.choices:
        assert "default" in " ".join(meaning for _, meaning in option.reference)
    assert option.takers >= COMPILERS
    assert bool(option.summary) == (PYTHON in option.takers)


@EACH
def test_help_is_one_line(option: Option[Any]) -> None:
    assert "\n" not in option.help
    assert not option.help.endswith(".")
    assert len(option.help) < 100


@EACH
def test_narrower_choices_are_choices(option: Option[Any]) -> None:
    assert set(option.narrowed) <= option.takers
    assert all(set(choices) < set(option.values.choices) for choices in option.narrowed.values())


def test_choices_are_the_types_that_users_see() -> None:
    hints = get_type_hints(Options, vars(declarations) | {"Graph": Any})
    for name in ("profile", "trace", "stage", "metric", "cut_by", "counters"):
        option = OPTIONS[name.replace("_", "-")]
        assert _leaves(hints[name]) - {type(None)} == set(option.values.choices)


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


_OF_THE_RUN = {"program", "args", "output", "preload", "trace_limit", "trace_ring"}
"""Parameters that say how a program is run, not how it is built."""


def test_the_library_has_a_keyword_for_every_option_that_it_takes() -> None:
    parameters = _parameters(run)
    options = {option.keyword: option for option in OPTIONS.values() if PYTHON in option.takers}
    assert set(parameters) - _OF_THE_RUN == set(options)
    for keyword, option in options.items():
        assert parameters[keyword].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[keyword].default == (() if option.repeats else None), keyword


def test_the_types_of_keywords_are_those_of_the_options() -> None:
    names = vars(declarations) | vars(trodden.api.profiles) | {"Graph": Any, "Run": Any}
    keywords, values = get_type_hints(run, names), get_type_hints(Options, names)
    for option in OPTIONS.values():
        if PYTHON in option.takers and not option.repeats:
            # A keyword may also take a path, or the text that a command line would have.
            assert _leaves(values[option.keyword]) <= _leaves(keywords[option.keyword]), option.name


def _leaves(kind: Any) -> set[Any]:
    """The members of unions and literals."""
    parts = get_args(kind)
    return {leaf for part in parts for leaf in _leaves(part)} if parts else {kind}


def test_estimates_take_the_options_that_are_for_estimates() -> None:
    parameters = _parameters(estimate)
    options = [option for option in OPTIONS.values() if "estimate" in option.takers]
    assert set(parameters) - {"program", "flags", "rates", "output"} == {each.keyword for each in options}
    assert parameters["stage"].default == Options().stage
    assert parameters["toolchain"].default is None


def test_an_unknown_keyword_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="profil"):
        run("a.c", profil="paths")  # type: ignore[call-arg]


def test_what_follows_from_several_options() -> None:
    assert Options().scheme == "edges"
    assert Options(profile="blocks").scheme == "blocks-by-edges"
    assert Options(profile="blocks", counters="checked").scheme == "checked"
    assert Options(profile="trace").traces
    assert not Options(profile="paths").traces
    assert Options().loop_exit_counts
    assert not Options(durable=True).loop_exit_counts
    assert not Options(profile="off").wants("f", "f", "/a.c")
    assert Options(only=("f",)).wants("f", "f", "/a.c")
    assert not Options(only=("f",), leave=("a.c",)).wants("f", "f", "/a.c")
