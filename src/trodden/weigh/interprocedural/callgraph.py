"""The call graph of a whole program with its local call frequencies (WL94 §5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from trodden.graph.cfg import Graph
from trodden.weigh.features.block_features import CallFeatures, FunctionFeatures
from trodden.weigh.interprocedural.callbacks import called_back


@dataclass(frozen=True)
class Procedure:
    """What the call graph needs of a function: ``calls[v]`` are made whenever block ``v`` is executed.

    ``blocks`` are the expected frequencies of its blocks for one entry.  ``local`` means internal linkage,
    ``taken`` that its address is taken; ``aliases`` are further names, with external linkage.
    """

    symbol: str
    unit: int
    blocks: Sequence[float]
    calls: Sequence[Sequence[CallFeatures]]
    local: bool = False
    taken: bool = False
    signature: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallGraph:
    """Vertices ``0 .. functions-1`` are functions, the others represent the indirect calls of one signature.

    ``calls[v]`` has the local call frequency of each callee; those of a signature are
    the shares of its possible callees, and sum to one.  ``outward[f]`` are calls that leave the program.
    """

    functions: int
    signatures: list[str]
    calls: list[dict[int, float]]
    outward: list[dict[str, float]]


def shares(candidates: Sequence[int]) -> list[float]:
    """The share of each possible callee in the indirect calls of one signature."""
    return [1 / len(candidates)] * len(candidates)


def call_graph(functions: Sequence[Procedure]) -> CallGraph:
    """Sum the calls of all functions; calls with frequency 0 are edges too."""
    resolve = Symbols(functions)
    reachable: dict[str, list[int]] = {}
    for number, function in enumerate(functions):
        if function.taken:
            reachable.setdefault(function.signature, []).append(number)
    vertex_of: dict[str, int] = {}
    calls: list[dict[int, float]] = []
    outward: list[dict[str, float]] = []
    for function in functions:
        inside: dict[int, float] = {}
        outside: dict[str, float] = {}
        for symbol, signature, frequency in _frequencies(function, resolve):
            callee = resolve(function.unit, symbol)
            if not symbol and signature in reachable:
                callee = vertex_of.setdefault(signature, len(functions) + len(vertex_of))
            if callee is None:
                outside[symbol] = outside.get(symbol, 0.0) + frequency
            else:
                inside[callee] = inside.get(callee, 0.0) + frequency
        calls.append(inside)
        outward.append(outside)
    for signature in vertex_of:
        candidates = reachable[signature]
        calls.append(dict(zip(candidates, shares(candidates), strict=True)))
    return CallGraph(len(functions), list(vertex_of), calls, outward)


@dataclass(frozen=True)
class KnownFunction:
    """A function of a program and its features; ``taken`` and ``aliases`` as in :class:`Procedure`."""

    unit: int
    symbol: str
    graph: Graph
    features: FunctionFeatures
    taken: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Whether it has internal linkage."""
        return self.features.local


class Named(Protocol):
    """A function as the linker sees it."""

    @property
    def symbol(self) -> str:
        """Its symbol."""

    @property
    def unit(self) -> int:
        """The number of its unit."""

    @property
    def local(self) -> bool:
        """Whether its symbol has internal linkage."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further symbols, with external linkage."""


def public_names(function: Named) -> tuple[str, ...]:
    """The symbols by which other units can call a function."""
    return function.aliases if function.local else (function.symbol, *function.aliases)


class Symbols:
    """Resolves symbols to functions, for each unit."""

    def __init__(self, functions: Sequence[Named]) -> None:
        self._own: dict[tuple[int, str], int] = {}
        self._shared: dict[str, int] = {}
        for number, function in enumerate(functions):
            self._own.setdefault((function.unit, function.symbol), number)
            if not function.local:
                self._shared.setdefault(function.symbol, number)
        for number, function in enumerate(functions):
            for alias in function.aliases:
                self._shared.setdefault(alias, number)

    def __call__(self, unit: int, symbol: str) -> int | None:
        """The function of the unit itself, else the first external one; ``None`` if there is none.

        Aliases come last: a weak one gives way to a function of the same name.
        """
        own = self._own.get((unit, symbol))
        return self._shared.get(symbol) if own is None else own


def _frequencies(function: Procedure, resolve: Symbols) -> Iterable[tuple[str, str, float]]:
    """Symbol, signature and frequency of all calls, those of callbacks by library functions included.

    A function whose address is passed to a function of the program is called there, indirectly.
    """
    for runs, calls in zip(function.blocks, function.calls, strict=False):
        for call in calls:
            yield call.callee, call.signature, runs
            if call.passes and call.callee and resolve(function.unit, call.callee) is None:
                for position, passed in call.passes:
                    times = called_back(call.callee, position)
                    if times:
                        yield passed, "", runs * times
