"""The source files of a profile that its filter shows, without what comments in them exclude."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from trodden.errors import InputMissing, SourceChanged
from trodden.profile.filters import is_compiler_made, is_included, shows_file
from trodden.profile.model import Filter, Profile
from trodden.profile.select import select
from trodden.source.exclusions import read_exclusions, without_excluded
from trodden.source.files import FileCounts, SourceFunction, source_files
from trodden.source.problems import source_problems
from trodden.source.texts import read_source

_NOT_OBEYED = "comments that exclude code from coverage are not obeyed"


@dataclass(frozen=True)
class ShownFiles:
    """Files by their paths.  ``problems`` are about sources that could not be read, or have changed."""

    files: dict[str, FileCounts]
    problems: tuple[str, ...] = ()


def shown_files(profile: Profile, pattern: str | None = None) -> ShownFiles:
    """The files of the functions that ``pattern`` selects, or of all.

    Code of a file that is shown counts wherever it was inlined, in functions that are not shown too.
    """
    chosen = profile.functions if pattern is None else select(profile, pattern)
    every = source_files(chosen.values())
    files = _filtered(every, profile.filter)
    if not files:
        files = _filtered(every, replace(profile.filter, system=True))
    return _marked(profile, files) if profile.filter.markers else ShownFiles(files)


def _filtered(files: dict[str, FileCounts], filter: Filter) -> dict[str, FileCounts]:
    found = {path: _with_functions(file, filter) for path, file in files.items() if shows_file(filter, path)}
    return {path: file for path, file in found.items() if file.lines or file.functions}


def _with_functions(file: FileCounts, filter: Filter) -> FileCounts:
    """A file with those of its functions that are to be shown, and the lines of these."""
    kept: list[SourceFunction] = []
    lines: set[int] = set()
    for each in file.functions:
        if _is_named(each, filter.exclude):
            lines.update(range(each.line, each.last + 1))
        elif filter.system or not any(map(is_compiler_made, each.symbols)):
            kept.append(each)
    if filter.include and not is_included(filter, file.path):
        kept = [each for each in kept if _is_named(each, filter.include)]
        wanted = {line for each in kept for line in range(each.line, each.last + 1)}
        lines |= {line for line in (*file.lines, *file.branches) if line not in wanted}
    if not lines and len(kept) == len(file.functions):
        return file
    return FileCounts(
        file.path,
        kept,
        {line: count for line, count in file.lines.items() if line not in lines},
        {line: found for line, found in file.branches.items() if line not in lines},
    )


def _is_named(function: SourceFunction, patterns: Iterable[str]) -> bool:
    names = function.name, *function.symbols
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _marked(profile: Profile, files: dict[str, FileCounts]) -> ShownFiles:
    """The files without what their sources exclude, as far as these can be read."""
    found: dict[str, FileCounts] = {}
    missing: list[str] = []
    changed: list[str] = []
    for path, file in files.items():
        try:
            found[path] = without_excluded(file, read_exclusions(read_source(profile, path)))
        except (InputMissing, SourceChanged) as error:
            found[path] = file
            (missing if isinstance(error, InputMissing) else changed).append(path)
    problems = tuple(source_problems(missing, changed, _NOT_OBEYED))
    return ShownFiles({path: file for path, file in found.items() if file.lines}, problems)
