"""How functions are known where paths extend over their calls: by tokens, and by addresses (``trodden.h``).

A direct call names its callee, so that no address has to be known there: asking for one would change how the
program is linked.  An indirect call has the address.  A function compares both with its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.module_reader import ModuleReader
from trodden.native.ir.module_properties import is_position_independent_library
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.ir.syntax.names import unquote

_BOUND = ("hidden", "protected", "dso_local")


def token_of(symbol: str, unit: int | None) -> int:
    """What a function is known by in calls that name it: ``unit`` is the tag of the unit that alone can."""
    text = symbol.removeprefix("\1") if unit is None else f"{symbol} {unit}"
    digest = hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little") | 1 << 63


@dataclass(frozen=True)
class CallNames:
    """The functions of a module.

    ``local`` are those that no other unit can name, ``aliases`` other names of functions, ``unaddressed``
    those whose address nobody can have.  ``own_names`` has, for functions in whose place another module's of
    that name may be called, an alias that certainly means this one; both as they are printed.
    """

    tag: int
    local: frozenset[str]
    aliases: Mapping[str, str]
    unaddressed: frozenset[str]
    own_names: Mapping[str, str]

    @staticmethod
    def of(reader: ModuleReader, tag: int) -> CallNames:
        """The names in a module with that tag."""
        headers = [FunctionHeader(text[: text.index("\n")]) for text in reader.module.definitions]
        local = frozenset(header.symbol for header in headers if header.is_local)
        own_names: dict[str, str] = {}
        if is_position_independent_library(reader.module.epilogue):
            for number, header in enumerate(headers):
                if not header.is_local and not any(word in _BOUND for word in header.before_name.split()):
                    own_names[f"@{header.name}"] = f"@__trodden_own.{number}"
        return CallNames(tag, local, reader.aliases.certain, local - set(reader.taken), own_names)

    def token(self, symbol: str) -> int:
        """The token of a function, by any of its names."""
        name = self.aliases.get(symbol, symbol)
        return token_of(name, self.tag if name in self.local else None)


@dataclass(frozen=True)
class Called:
    """Whom a call calls: a symbol, or ``None`` and an operand that is the address."""

    symbol: str | None
    operand: str


def called_by(read: FunctionCfg, block: int) -> Called:
    """Whom the call at the end of a block calls."""
    call = read.recording_calls[block]
    instruction = read.ir.blocks[block].terminator if call is None else call.instruction
    callee, parts = instruction.callee, instruction.call
    assert parts is not None, instruction
    return Called(None if callee is None else unquote(callee), parts.callee or "")
