"""What a measure is: taken of a program once, and kept until what it follows from changes."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from bench.suite.model import SuiteProgram

Json: TypeAlias = Any
"""Numbers, text, and lists and dictionaries of such: what a file of results can hold."""

Figures: TypeAlias = Mapping[str, Json]
"""The raw figures of one program, by the keys of the measures that they were taken by."""


class Measure(ABC):
    """One kind of figure of a program; those of the same key are the same figure.

    Subclasses are frozen dataclasses that say with their fields which build and which input they are about.
    """

    @property
    @abstractmethod
    def key(self) -> str:
        """The name that the figure is kept under."""

    @property
    def ways(self) -> tuple[str, ...]:
        """The builds that it needs, by name; they are made before it is taken."""
        return ()

    @property
    def exclusive(self) -> bool:
        """Whether nothing else may run meanwhile."""
        return False

    @property
    def tools(self) -> tuple[str, ...]:
        """The commands of the machine that it needs beside the compilers."""
        return ()

    @abstractmethod
    def fingerprint(self, program: SuiteProgram) -> str:
        """A hash of everything that the figure follows from: it is taken again only when that changes."""

    @abstractmethod
    def take(self, program: SuiteProgram) -> Json:
        """Take the figure; it is kept as soon as this answers."""

    def go_on(self, program: SuiteProgram, before: Json) -> Json:
        """Take more of a figure that comes in parts; ``before`` is what is kept, ``None`` at first."""
        return self.take(program)

    def left(self, program: SuiteProgram, value: Json) -> int:
        """How many parts are still to be taken when this is kept; 0 if it is all that is wanted."""
        return 1 if value is None else 0

    def joined(self, other: Measure) -> Measure:
        """One measure for two of the same key."""
        return self

    def without(self, ways: Collection[str]) -> Measure | None:
        """What is left of it when these builds cannot be made."""
        return None if any(way in ways for way in self.ways) else self

    def part(self, program: SuiteProgram, value: Json) -> Json:
        """What belongs to this measure of a figure that others of the same key may share."""
        return value


def hashed(*parts: str) -> str:
    """A fingerprint out of its parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
