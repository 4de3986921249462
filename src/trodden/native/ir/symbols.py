"""How a module speaks of functions: their names, addresses that are used, what runs at the start."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from trodden.native.ir.grammar import NAME
from trodden.native.ir.module import IRModule
from trodden.native.ir.names import unquote

_MENTION = re.compile(rf"(?<!blockaddress\()@({NAME})(?![\w$.\"(-])")
_TEXT = re.compile(r'\bc"[^"\n]*"')
_FUNCTION = re.compile(rf"^(?:declare|define) [^\n]*?@({NAME})\(", re.MULTILINE)
_POINTER = rf"ptr (?:addrspace\(\d+\) )?@({NAME})"
_ALIAS = re.compile(
    rf'^@({NAME}) = ((?:[\w()]+ )*?)alias [^\n]*, {_POINTER}(?:, partition "[^"\n]*")?$', re.MULTILINE
)
_STARTED = re.compile(r"^@llvm\.global_[cd]tors = ([^\n]*)$", re.MULTILINE)
_STARTED_ONE = re.compile(rf"\{{ i32 \d+, {_POINTER}, ")
_LOCAL = frozenset(("internal", "private"))
_REPLACEABLE = frozenset(("weak", "linkonce"))


@dataclass(frozen=True)
class Aliases:
    """Other names of functions that a module defines.

    ``certain`` finds a function by a name that means it wherever the module says it.  ``public`` are the
    names that other units may use, with their functions: also those that another unit may define better.
    """

    certain: Mapping[str, str] = field(default_factory=dict)
    public: tuple[tuple[str, str], ...] = ()

    def meant(self, name: str) -> str:
        """The function that a name stands for, as far as the module can tell."""
        return self.certain.get(name, name)


def function_symbols(module: IRModule) -> frozenset[str]:
    """All functions that a module defines or declares, except LLVM's own."""
    names = (unquote(name) for name in _FUNCTION.findall(module.signatures()))
    return frozenset(name for name in names if not name.startswith("llvm."))


def read_aliases(module: IRModule, functions: Collection[str]) -> Aliases:
    """The aliases of functions; one may stand for another."""
    found = {
        unquote(name): (frozenset(words.split()), unquote(target))
        for name, words, target in _ALIAS.findall(module.prologue)
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
    """Constructors and destructors: what is called once before or after all else."""
    found = {
        unquote(name) for table in _STARTED.findall(module.prologue) for name in _STARTED_ONE.findall(table)
    }
    return tuple(sorted(map(aliases.meant, found)))


def taken_functions(module: IRModule, functions: Collection[str], aliases: Aliases) -> tuple[str, ...]:
    """The functions whose address is used for anything but calling them there and then.

    To give a function another name, or to have it called at the start, is no such use.
    """
    globals_ = _TEXT.sub("", _STARTED.sub("", _ALIAS.sub("", module.prologue)))
    found = set(_MENTION.findall(globals_))
    for text in module.definitions:
        found.update(_MENTION.findall(text))
    return tuple(sorted({aliases.meant(unquote(name)) for name in found}.intersection(functions)))
