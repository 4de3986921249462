"""What the declaration of an option says: its values, who takes it, and the text that documents it.

Flags, environment variables, keyword arguments, usage lines and the tables of the manual follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from textwrap import dedent
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trodden.native.options.values import Switch, SwitchOrNumber, Text, Values

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
COMPILERS = frozenset({"cc", "c++", "rustc"})
PYTHON = "python"
BUILDS = COMPILERS | {"run", "cargo", PYTHON}
FLAG_PREFIX = "--trodden-"
VARIABLE_PREFIX = "TRODDEN_"
_NONE: Mapping[str, tuple[str, ...]] = MappingProxyType({})
_DECLARED = "option"


@dataclass(frozen=True, kw_only=True)
class Option(Generic[T]):
    """An option of instrumentation.

    ``takers`` are the verbs that take it as a flag, and ``python`` if the library has a keyword for it; the
    compilers and the environment know all options.  ``narrowed`` are the choices of a verb that has fewer.
    ``path_profile``: it concerns path profiles only.  ``repeats``: repeated flags add up, where otherwise the
    last one counts.

    ``help`` is one line.  ``summary`` goes into the README, which omits options without one.  ``reference``
    are the rows of the manual: some values each, and what they mean.  ``former`` is an earlier name of the
    option, which is still understood.
    """

    name: str
    default: T
    values: Values[T]
    help: str
    summary: str
    reference: tuple[tuple[str, str], ...]
    takers: frozenset[str]
    narrowed: Mapping[str, tuple[str, ...]]
    path_profile: bool
    repeats: bool
    former: str | None

    @property
    def keyword(self) -> str:
        """The name as Python has it."""
        return self.name.replace("-", "_")

    @property
    def flag(self) -> str:
        """The flag of the compilers."""
        return FLAG_PREFIX + self.name

    @property
    def variable(self) -> str:
        """The environment variable."""
        return variable_of(self.name)

    @property
    def switch(self) -> bool:
        """Whether it may be just on or off, so that a flag of a verb needs no value."""
        return isinstance(self.values, Switch | SwitchOrNumber)

    def choices(self, verb: str) -> tuple[str, ...]:
        """The words that a verb takes as values."""
        return self.narrowed.get(verb, self.values.choices)

    def alternatives(self, verb: str) -> tuple[str, ...]:
        """All that a verb takes as values, where that can be listed; a word in capitals stands for others."""
        words = self.choices(verb)
        return (self.values.metavar, *words) if isinstance(self.values, Text) else words


def variable_of(name: str) -> str:
    """The environment variable for the option of this name."""
    return VARIABLE_PREFIX + name.upper().replace("-", "_")


def declared(
    default: T,
    values: Values[T],
    *,
    help: str,
    reference: str,
    summary: str = "",
    takers: frozenset[str] = BUILDS,
    narrowed: Mapping[str, tuple[str, ...]] = _NONE,
    path_profile: bool = False,
    repeats: bool = False,
    former: str | None = None,
) -> T:
    """A field of a dataclass that is an option; see :class:`Option`.

    ``reference`` has a row a line, ``values | meaning``, and continuation lines indented below it.
    ``{default}`` in a text stands for the default value.
    """
    shown = ("on" if default else "off") if isinstance(default, bool) else str(default)
    option = Option(
        name="",
        default=default,
        values=values,
        help=help,
        summary=summary.replace("{default}", shown),
        reference=_rows(reference.replace("{default}", shown)),
        takers=takers,
        narrowed=narrowed,
        path_profile=path_profile,
        repeats=repeats,
        former=former,
    )
    return field(default=default, metadata={_DECLARED: option})


def _rows(text: str) -> tuple[tuple[str, str], ...]:
    rows: list[tuple[str, str]] = []
    for line in dedent(text).strip().splitlines():
        if line.startswith(" "):
            values, meaning = rows.pop()
            rows.append((values, f"{meaning} {line.strip()}"))
        else:
            values, _, meaning = line.partition(" | ")
            rows.append((values, meaning))
    return tuple(rows)


def options_of(declaring: type[DataclassInstance]) -> Mapping[str, Option[Any]]:
    """The options that the fields of a dataclass declare, by name."""
    found: dict[str, Option[Any]] = {}
    for each in fields(declaring):
        option = each.metadata.get(_DECLARED)
        if isinstance(option, Option):
            name = each.name.replace("_", "-")
            found[name] = replace(option, name=name)
    return MappingProxyType(found)
