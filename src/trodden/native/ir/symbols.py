"""The symbols of a module: functions, their aliases, addresses that are taken, constructors, types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from trodden.native.ir.module import IRModule
from trodden.native.ir.syntax.grammar import (
    ADDRESS_TAKEN,
    ALIAS,
    CHARACTER_ARRAY,
    CONSTRUCTOR_ENTRY,
    CONSTRUCTORS,
    FUNCTION_SYMBOL,
    IFUNC_RESOLVER,
    TARGET_TRIPLE,
    TYPE_DEFINITION,
)
from trodden.native.ir.syntax.names import unquote

_LOCAL = frozenset(("internal", "private"))
_REPLACEABLE = frozenset(("weak", "linkonce"))


@dataclass(frozen=True)
class Aliases:
    """Other names of functions that a module defines.

    ``certain`` has the function of a name that means it wherever the module uses it.  ``public`` are the
    names that other units may use, with their functions: also those that another unit may define instead.
    """

    certain: Mapping[str, str] = field(default_factory=dict)
    public: tuple[tuple[str, str], ...] = ()

    def resolve(self, name: str) -> str:
        """The function that a name denotes, as far as the module determines it."""
        return self.certain.get(name, name)


def names_function(text: str, function: str) -> bool:
    """Whether IR text declares, defines or calls a function, whose name is printed with its prefix."""
    return f" {function}(" in text


def mentions(text: str, names: Iterable[str]) -> bool:
    """Whether IR text contains any of some names of symbols or sections, as they are printed."""
    return any(name in text for name in names)


def function_symbols(module: IRModule) -> frozenset[str]:
    """All functions that a module defines or declares, except LLVM's own."""
    names = (unquote(name) for name in FUNCTION_SYMBOL.findall(module.signatures()))
    return frozenset(name for name in names if not name.startswith("llvm."))


def read_aliases(module: IRModule, functions: Collection[str]) -> Aliases:
    """The aliases of functions; one may be an alias of another."""
    found = {
        unquote(name): (frozenset(words.split()), unquote(target))
        for name, words, target in ALIAS.findall(module.prologue)
    }
    certain: dict[str, str] = {}
    public: list[tuple[str, str]] = []
    for name, (words, target) in found.items():
        passed = {name}
        while target in found and target not in passed:
            passed.add(target)
            target = found[target][1]
        if target not in functions:
            continue
        if not words & _REPLACEABLE:
            certain[name] = target
        if not words & _LOCAL:
            public.append((name, target))
    return Aliases(certain, tuple(sorted(public)))


def started_functions(module: IRModule, aliases: Aliases) -> tuple[str, ...]:
    """Constructors and destructors, which are called once before or after everything else."""
    found = {
        unquote(name)
        for table in CONSTRUCTORS.findall(module.prologue)
        for name in CONSTRUCTOR_ENTRY.findall(table)
    }
    return tuple(sorted(map(aliases.resolve, found)))


def taken_functions(module: IRModule, functions: Collection[str], aliases: Aliases) -> tuple[str, ...]:
    """The functions whose address is used other than for a direct call.

    An alias of a function is no such use, nor is its entry in the list of constructors.
    """
    globals_ = CHARACTER_ARRAY.sub("", CONSTRUCTORS.sub("", ALIAS.sub("", module.prologue)))
    found = set(ADDRESS_TAKEN.findall(globals_))
    for text in module.definitions:
        found.update(ADDRESS_TAKEN.findall(text))
    return tuple(sorted({aliases.resolve(unquote(name)) for name in found}.intersection(functions)))


def type_names(module: IRModule) -> frozenset[str]:
    """The names of the named types (as printed, without the prefix)."""
    return frozenset(TYPE_DEFINITION.findall(module.prologue))


def ifunc_resolvers(module: IRModule) -> frozenset[str]:
    """The functions that choose an implementation when the program is loaded."""
    return frozenset(map(unquote, IFUNC_RESOLVER.findall(module.prologue)))


def machine_of(module: IRModule) -> str:
    """The architecture that a module is for, from its target triple."""
    triple = TARGET_TRIPLE.search(module.prologue)
    return "aarch64" if triple is not None and triple.group(1) in ("aarch64", "arm64") else "x86_64"
