"""Functions of the source that were inlined: where, and which of them have no code of their own.

An optimiser that has inlined all calls of a static function removes it.  Then the profile has no function of
that name, only inlined instances in others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.profile.model import FunctionProfile, Profile


@dataclass(frozen=True, slots=True)
class InlinedCall:
    """A call that was replaced by the code of its callee: the function that has it now, and its location.

    ``caller`` is the function of the source that the call is in, if that was inlined as well.
    """

    into: str
    file: str
    line: int
    caller: str | None = None

    @property
    def place(self) -> str:
        """``main.c:12``, with the full path."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class InlinedFunction:
    """A function of the source that exists only inlined; ``calls`` are those that were replaced."""

    name: str
    file: str
    line: int
    calls: tuple[InlinedCall, ...]

    @property
    def place(self) -> str:
        """Where it is defined."""
        return f"{self.file}:{self.line}"

    @property
    def into(self) -> str:
        """The function of the source that called it first."""
        return self.calls[0].caller or self.calls[0].into

    def words(self) -> str:
        """``inlined into main at main.c:12``."""
        more = f" and {len(self.calls) - 1:,} more" if len(self.calls) > 1 else ""
        return f"inlined into {self.into} at {self.calls[0].place}{more}"


def only_inlined(
    profile: Profile, functions: Mapping[str, FunctionProfile] | None = None
) -> tuple[InlinedFunction, ...]:
    """The functions that have inlined instances and no code of their own, by file and line.

    Those of compiled sources come before those of headers.  ``functions`` are those whose instances count;
    all of the profile, if they are not given.
    """
    compiled = {(each.name, each.file, each.line) for each in profile.functions.values()}
    calls: dict[tuple[str, str, int], dict[InlinedCall, None]] = {}
    for name, function in (profile.functions if functions is None else functions).items():
        for key, call in _inlined(name, function):
            if key not in compiled:
                calls.setdefault(key, {})[call] = None
    found = [InlinedFunction(*key, tuple(own)) for key, own in calls.items()]
    own = {unit.source for unit in profile.units}
    return tuple(sorted(found, key=lambda each: (each.file not in own, each.file, each.line, each.name)))


def _inlined(name: str, function: FunctionProfile) -> Iterator[tuple[tuple[str, str, int], InlinedCall]]:
    facts, files = function.facts, function.files
    for callee, call in zip(facts.callees, facts.inlined, strict=True) if facts.callees else ():
        if callee.file < 0 or call.file < 0:
            continue
        caller = facts.callees[call.instance - 1].name if call.instance else None
        yield (
            (callee.name, files[callee.file].path, callee.line),
            InlinedCall(name, files[call.file].path, call.line, caller),
        )
