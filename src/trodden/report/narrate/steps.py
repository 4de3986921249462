"""A step of a path in words: a source location, and what was decided there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trodden.profile.select import without_parameters

_ABI_TAG = re.compile(r"\[abi:[^\]]*\]")
_OPERATOR = re.compile(r"\boperator\b[^:]*$")


@dataclass(frozen=True)
class Part:
    """A part of a condition and its value: ``x < 0`` and ``true``, ``switch (op)`` and ``case '+'``."""

    text: str
    value: str

    def words(self, longest: int | None = None) -> str:
        """``x < 0: true``; the text is cut to ``longest`` characters."""
        return f"{cut(self.text, longest)}: {self.value}"


@dataclass(frozen=True)
class Outcome:
    """What was decided at a step.

    ``parts`` are the parts of the condition that are certain to have been evaluated, in their order.
    ``continues`` says where control continued if they do not say all, ``throws`` that a call has thrown an
    exception.  ``exits`` are the words for a loop that was left, ``iterates`` says that a loop of one block
    was executed any number of times before, ``through`` names blocks of the condition that were passed.
    ``ambiguous``: other branches of the condition may decide the same parts, so that they may have had these
    values although this edge was not taken.
    """

    parts: tuple[Part, ...] = ()
    continues: str | None = None
    throws: bool = False
    exits: str | None = None
    iterates: bool = False
    through: tuple[str, ...] = ()
    ambiguous: bool = False

    def words(self, longest: int | None = None) -> str:
        """``x < 0: false, exits the loop``."""
        continues = None if self.continues is None else f"continues at {self.continues}"
        said = [
            *(part.words(longest) for part in self.parts),
            *(["throws an exception"] if self.throws else []),
        ]
        said += [text for text in (continues, self.exits) if text is not None]
        iterations = "any number of iterations, then " if self.iterates else ""
        blocks = f" (through {', '.join(self.through)})"
        return f"{iterations}{', '.join(said)}{blocks if self.through else ''}"

    @property
    def decision(self) -> str:
        """The same without the location where control continued; empty if nothing is left."""
        return Outcome(self.parts, None, self.throws, self.exits, self.iterates).words()


@dataclass(frozen=True)
class Step:
    """A location on a path.

    ``location`` is how it is named where ``file`` is clear, ``text`` the condition or line as the source has
    it, None if the source is not available.  ``outcome`` is what was decided, None if nothing was.
    ``inlined`` is the function that the code was inlined from, if it is known.  Without debug information
    there is neither file nor line.
    """

    file: str | None
    line: int | None
    location: str
    text: str | None
    outcome: Outcome | None = None
    inlined: str | None = None

    @property
    def outcome_text(self) -> str | None:
        """What was decided, in words."""
        return None if self.outcome is None else self.outcome.words()

    def words(self, longest: int | None = None) -> str:
        """``12: x < 0: false``, in inlined code ``clamp() 12: x < 0: false``.

        Texts of the source are cut to ``longest`` characters.
        """
        outcome = "" if self.outcome is None else self.outcome.words(longest)
        named = self.outcome is not None and bool(self.outcome.parts)
        text = None if named or self.text is None else cut(self.text, longest)
        head = self.location
        if text is not None or named:
            head = f"{self.location.removeprefix('line ')}:"
        origin = None if self.inlined is None else called(self.inlined)
        return " ".join(part for part in (origin, head, text, outcome) if part)


def called(function: str) -> str:
    """A function in few words: ``f()``, without its scope, template arguments and parameters."""
    name = _ABI_TAG.sub("", without_parameters(function))
    operator = _OPERATOR.search(name)
    if operator is not None:
        return f"{operator.group()}()"
    depth, start = 0, len(name)
    while start and (depth or name[start - 1] not in ": "):
        start -= 1
        depth += (name[start] == ">") - (name[start] == "<")
    return f"{name[start:].partition('<')[0]}()"


def cut(text: str, longest: int | None) -> str:
    """The beginning of a text that is longer than allowed."""
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
