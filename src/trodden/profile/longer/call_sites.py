"""Which functions of a profile a block calls, as far as the names of what it calls say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from trodden.profile.call_paths import function_names
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.traced_sites import call_sites
from trodden.program.facts import BranchKind
from trodden.weigh.features.block_features import CallFeatures


@dataclass(frozen=True, slots=True)
class CallIn:
    """A call in a block of a function.

    ``callee`` is the key of what it calls; ``None`` if that is no function of the profile, or not known.
    ``times`` is how often the block calls it, ``last``: no call of another function of the profile follows in
    the block.  Through a ``pointer`` it may call any.
    """

    block: int
    callee: str | None
    times: int
    last: bool
    pointer: bool = False


class Callees:
    """Resolves the symbols that functions of a profile call."""

    def __init__(self, profile: Profile) -> None:
        self._functions = profile.functions
        self._sites = _traced_sites(profile)
        self._aliases: dict[str, set[str]] = {}
        for unit in profile.units:
            for alias, symbol in unit.aliases:
                self._aliases.setdefault(symbol, set()).add(alias)

    @cached_property
    def _by_symbol(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key, function in self._functions.items():
            for symbol in self.symbols(function):
                found.setdefault(symbol, []).append(key)
        return found

    def symbols(self, function: FunctionProfile) -> set[str]:
        """The names by which a function may be called."""
        symbol = function.facts.linkage_name
        return {symbol, *self._aliases.get(symbol, ())}

    def called(self, caller: FunctionProfile, symbol: str) -> str | None:
        """The function that a symbol stands for where a function calls it.

        Of several with that name it is the one in the same unit.
        """
        keys = self._by_symbol.get(symbol, [])
        if len(keys) > 1:
            units = _units(caller)
            keys = [key for key in keys if units & _units(self._functions[key])]
        return keys[0] if len(keys) == 1 else None

    def calls(self, function: FunctionProfile) -> list[CallIn]:
        """All calls of a function that may be of others in the profile, in the order of its blocks."""
        found = []
        for block, features in enumerate(function.facts.features.blocks[: function.facts.graph.exit]):
            keys = [self.called(function, call.callee) for call in features.calls]
            pointers = [not call.callee for call in features.calls]
            for position, (key, pointer) in enumerate(zip(keys, pointers, strict=True)):
                later = keys[position + 1 :]
                last = not any(pointers[position + 1 :]) and not any(later)
                if pointer or (key is not None and key not in later):
                    found.append(CallIn(block, key, keys.count(key), last, pointer))
        return found

    def calling(self, key: str) -> frozenset[int]:
        """The blocks of a function at whose calls what it did behind an earlier call comes to its end."""
        if key in self._sites:
            return self._sites[key]
        return frozenset(call.block for call in self.calls(self._functions[key]))

    def comes_back(self, key: str, block: int) -> bool:
        """Whether what the last call of a block calls certainly returns to that function, if at all."""
        if key in self._sites:
            return block in self._sites[key]
        return not may_be_left(self._functions[key], block)

    def is_not_of(self, caller: str, block: int, callee: str) -> bool:
        """Whether the last call of a block is certainly not of a function: it has another name."""
        call = self._last_call(caller, block)
        if call is None or not call.callee:
            return False
        return call.callee not in self.symbols(self._functions[callee])

    def through_pointer(self, caller: str, block: int) -> bool:
        """Whether the last call of a block is of whatever a pointer points to."""
        call = self._last_call(caller, block)
        return call is not None and not call.callee

    def _last_call(self, caller: str, block: int) -> CallFeatures | None:
        blocks = self._functions[caller].facts.features.blocks
        calls = blocks[block].calls if block < len(blocks) else ()
        return calls[-1] if calls else None


def _traced_sites(profile: Profile) -> dict[str, frozenset[int]]:
    """The blocks of each function with call sites, if its counts follow from a trace."""
    if profile.traced_pairs is None:
        return {}
    names = function_names(profile)
    return {
        names[unit.id, number]: call_sites(facts, traced)
        for unit, traced in zip(profile.units, profile.traced_units, strict=False)
        for number, facts in enumerate(traced.functions[: len(unit.functions)])
        if facts.plan.trace is not None
    }


def may_be_left(function: FunctionProfile, block: int) -> bool:
    """Whether the last call of a block does not return there: it may be in tail position, or never return.

    In tail position it may be in optimised code where nothing but a return follows.
    """
    facts = function.facts
    if facts.blocks[block].kind is BranchKind.DEAD_END:
        return True
    features = facts.features.blocks
    if not facts.optimised or block >= len(features) or not features[block].calls:
        return False
    if facts.blocks[block].kind is BranchKind.RETURN:
        return True
    graph = facts.graph
    targets = {graph.edges[edge].dst for edge in graph.out_edges[block]}
    return len(targets) == 1 and all(
        target != graph.exit
        and facts.blocks[target].kind is BranchKind.RETURN
        and facts.blocks[target].instructions <= 1
        for target in targets
    )


def _units(function: FunctionProfile) -> set[str]:
    return {copy.unit for copy in function.copies or (function,)}
