"""What a measure is: made of a program once, and kept until something that it depends on changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from bench.measures.code import code_of
from bench.run.fingerprints import build_fingerprint, run_fingerprint
from bench.suite.model import CaseName, SuiteProgram
from bench.support.hashing import hashed

Json: TypeAlias = Any
"""Numbers, strings, and lists and dictionaries of these: what a file of results can hold."""

Figures: TypeAlias = Mapping[str, Json]
"""The raw figures of one program, by the keys of their measures."""


class Measure(ABC):
    """One kind of figure of a program; measures with the same key are the same figure.

    Subclasses are frozen dataclasses, whose fields say which build and which input they are about.
    """

    @property
    @abstractmethod
    def key(self) -> str:
        """The name that the figure is kept under."""

    @property
    def configs(self) -> tuple[str, ...]:
        """The configurations that it needs, by name; they are built before it is measured."""
        return ()

    @property
    def exclusive(self) -> bool:
        """Whether nothing else may run at the same time."""
        return False

    @property
    def tools(self) -> tuple[str, ...]:
        """The commands of the machine that it needs, other than compilers."""
        return ()

    @abstractmethod
    def fingerprint(self, program: SuiteProgram) -> str:
        """A hash of everything that the figure depends on: it is measured again only when that changes."""

    @abstractmethod
    def measure(self, program: SuiteProgram) -> Json:
        """Measure; the figure is kept as soon as this returns."""

    def extend(self, program: SuiteProgram, before: Json) -> Json:
        """Measure the next part of a figure that consists of parts; ``before`` is ``None`` at first."""
        return self.measure(program)

    def remaining(self, program: SuiteProgram, value: Json) -> int:
        """How many parts are still to be measured when this is kept."""
        return 1 if value is None else 0

    def merged(self, other: Measure) -> Measure:
        """One measure for two of the same key."""
        return self

    def without(self, configs: Collection[str]) -> Measure | None:
        """What is left of it when these configurations cannot be built."""
        return None if any(config in configs for config in self.configs) else self

    def part(self, program: SuiteProgram, value: Json) -> Json:
        """What belongs to this measure of a figure that measures of the same key share."""
        return value


@dataclass(frozen=True)
class BuildMeasure(Measure):
    """A measure of one build, kept under its kind and configuration."""

    config: str
    kind: ClassVar[str]

    @property
    def key(self) -> str:
        """By configuration."""
        return f"{self.kind}/{self.config}"

    @property
    def configs(self) -> tuple[str, ...]:
        """The build."""
        return (self.config,)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build, and the code that measures."""
        return hashed(code_of(type(self).__module__), build_fingerprint(program, self.config))


@dataclass(frozen=True)
class RunMeasure(BuildMeasure):
    """A measure of runs of one build on one case, kept under its kind, configuration and case."""

    case: CaseName = "ref"

    @property
    def key(self) -> str:
        """By configuration and case."""
        return f"{self.kind}/{self.config}/{self.case}"

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build, its input, and the code that measures."""
        return hashed(code_of(type(self).__module__), run_fingerprint(program, self.config, self.case))
