"""Which functions and files of a profile are shown, and under which paths its sources are found.

Nothing is removed from a profile by this: shares are those of the whole program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from trodden.errors import UsageError
from trodden.profile.assemble import named
from trodden.profile.model import Filter, FunctionProfile, Profile
from trodden.program.facts import SourceFile, UnitFacts

_SYSTEM = re.compile(
    r"/usr/(?:local/)?(?:include|lib|lib32|lib64|libexec)/"
    r"|/rustc/[0-9a-f]+/|/rust/deps/"
    r"|.*/(?:ziglang/lib|lib/rustlib/src|lib/clang/[^/]+/include|lib/gcc/.*/include|include/c\+\+)/"
)
"""Headers of the system and of compilers, the standard libraries of C++ and Rust with their own parts."""

_COMPILER_MADE = re.compile(
    r"[a-z]+san\.module_[cd]tor|sancov\.module_ctor|__llvm_(?:gcov|profile)_|__clang_call_terminate$|__cfi_check"
)
"""Functions that a compiler adds for its own instrumentation and runtimes, by linkage name."""


def is_system(path: str) -> bool:
    """Whether a file belongs to the system, to a compiler or to a standard library."""
    return _SYSTEM.match(path) is not None


def is_compiler_made(linkage_name: str) -> bool:
    """Whether a function is no code of the source, as the constructor by which a sanitizer starts is not.

    Initialisers of C++ variables (``_GLOBAL__sub_I_...``) are: they execute what the source says.
    """
    return _COMPILER_MADE.match(linkage_name) is not None


def is_of_system(function: FunctionProfile) -> bool:
    """Whether a function belongs to the system, to a compiler or to a standard library."""
    return is_system(function.file) or is_compiler_made(function.facts.linkage_name)


def file_matches(path: str, pattern: str) -> bool:
    """Whether a pattern means a file: its path, the end of its path, or a directory above it."""
    return (
        path == pattern
        or fnmatchcase(path, pattern)
        or fnmatchcase(path, f"*/{pattern}")
        or fnmatchcase(path, f"{pattern.rstrip('/')}/*")
        or fnmatchcase(path, f"*/{pattern.rstrip('/')}/*")
    )


def is_included(filter: Filter, path: str) -> bool:
    """Whether a file is among those that are asked for by name."""
    return any(file_matches(path, pattern) for pattern in filter.include)


def shows_file(filter: Filter, path: str) -> bool:
    """Whether a file is shown as far as patterns name files; one that is named is shown wherever it is."""
    if any(file_matches(path, pattern) for pattern in filter.exclude):
        return False
    return is_included(filter, path) or filter.system or not is_system(path)


def shows(filter: Filter, function: FunctionProfile, names: Iterable[str]) -> bool:
    """Whether a function is shown: patterns name functions, or the files that they are in."""
    known = tuple(names)
    if any(fnmatchcase(name, pattern) for name in known for pattern in filter.exclude):
        return False
    hidden = not filter.system and is_compiler_made(function.facts.linkage_name)
    if (hidden or not shows_file(filter, function.file)) and not _named(filter.include, known):
        return False
    return not filter.include or is_included(filter, function.file) or _named(filter.include, known)


def _named(patterns: Iterable[str], names: Iterable[str]) -> bool:
    known = tuple(names)
    return any(fnmatchcase(name, pattern) for name in known for pattern in patterns)


def moved(profile: Profile, directories: Mapping[str, str]) -> Profile:
    """The profile with the paths of its sources where they are now: ``directories`` maps old to new ones."""
    if not directories:
        return profile
    places = sorted(((os.path.normpath(old), new) for old, new in directories.items()), reverse=True)
    used: set[str] = set()

    def new_path(path: str) -> str:
        for old, new in places:
            if path == old or path.startswith(old.rstrip("/") + "/"):
                used.add(old)
                return os.path.normpath(os.path.join(new, path[len(old) :].lstrip("/")))
        return path

    def moved_unit(unit: UnitFacts) -> UnitFacts:
        moved_files = tuple(replace(file, path=new_path(file.path)) for file in unit.files)
        return replace(unit, files=moved_files, source=new_path(unit.source))

    units = []
    files: dict[str, tuple[SourceFile, ...]] = {}
    for unit in profile.units:
        units.append(moved_unit(unit))
        files[unit.id] = units[-1].files
    for old, _ in places:
        if old not in used:
            raise UsageError(f"--source-dir {old}: no source of the profile is there; see trodden report")

    def at_new_path(function: FunctionProfile) -> FunctionProfile:
        copies = tuple(replace(copy, files=files[copy.unit]) for copy in function.copies)
        return replace(function, files=files[function.unit], copies=copies)

    functions = named([at_new_path(each) for each in profile.functions.values()])
    traced = tuple(map(moved_unit, profile.traced_units))
    return replace(profile, units=tuple(units), functions=functions, traced_units=traced)
