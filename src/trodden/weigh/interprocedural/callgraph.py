"""The call graph of a whole program with its local call frequencies (WL94 §5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from trodden.graph.cfg import Graph
from trodden.weigh.features.clues import CallClue, FunctionClues
from trodden.weigh.interprocedural.callbacks import called_back


@dataclass(frozen=True)
class Procedure:
    """What is to be known of a function: ``calls[v]`` are made whenever block ``v`` runs.

    ``blocks`` are the expected frequencies of its blocks for one entry.  ``local`` means that only functions
    of the same ``unit`` can name it so, ``taken`` that its address is used for more than calling it;
    ``aliases`` are further names, which all units know.
    """

    symbol: str
    unit: int
    blocks: Sequence[float]
    calls: Sequence[Sequence[CallClue]]
    local: bool = False
    taken: bool = False
    signature: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallGraph:
    """Vertices ``0 .. functions-1`` are functions, those behind them stand for the calls of a signature.

    ``calls[v]`` has the local call frequency of each callee; a signature's are the shares of the functions
    that a pointer may lead to, and sum up to one.  ``outward[f]`` are calls of what is not in the program.
    """

    functions: int
    signatures: list[str]
    calls: list[dict[int, float]]
    outward: list[dict[str, float]]


def shares(candidates: Sequence[int]) -> list[float]:
    """Which share of the calls through pointers of one type goes to each function that they may reach."""
    return [1 / len(candidates)] * len(candidates)


def call_graph(functions: Sequence[Procedure]) -> CallGraph:
    """Add up the calls of all functions; calls with frequency 0 are edges too."""
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
class Known:
    """A function of a program and its clues; ``taken`` and ``aliases`` are those of a :class:`Procedure`."""

    unit: int
    symbol: str
    graph: Graph
    clues: FunctionClues
    taken: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Whether only its own unit can name it."""
        return self.clues.local


class Named(Protocol):
    """A function as the linker sees it."""

    @property
    def symbol(self) -> str:
        """The name the linker knows it by."""

    @property
    def unit(self) -> int:
        """The number of the unit that it is part of."""

    @property
    def local(self) -> bool:
        """Whether only its own unit can name it so."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further names, which all units know."""


def public_names(function: Named) -> tuple[str, ...]:
    """The names by which any unit can call a function."""
    return function.aliases if function.local else (function.symbol, *function.aliases)


class Symbols:
    """Finds the function that a symbol means in a unit."""

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
        """That of the unit itself, else the first that others may name; ``None`` if there is none.

        Aliases come last: one that is weak gives way to a function of the same name.
        """
        own = self._own.get((unit, symbol))
        return self._shared.get(symbol) if own is None else own


def _frequencies(function: Procedure, resolve: Symbols) -> Iterable[tuple[str, str, float]]:
    """Symbol, signature and frequency of all calls, those that a library makes of what it is given included.

    What is given to a function of the program, or called through a pointer, is called there, through a
    pointer of its own.
    """
    for runs, calls in zip(function.blocks, function.calls, strict=False):
        for call in calls:
            yield call.callee, call.signature, runs
            if call.passes and call.callee and resolve(function.unit, call.callee) is None:
                for place, passed in call.passes:
                    times = called_back(call.callee, place)
                    if times:
                        yield passed, "", runs * times
