"""Profiles in files: loaded, merged, and collected from raw files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from trodden.waiting import waiting

if TYPE_CHECKING:
    from trodden.merging.merge import Merged
    from trodden.profile.from_runs import Collected
    from trodden.profile.model import Profile
    from trodden.profile.reading import Reading

_LARGE = 1 << 18
_MANY = 50
StrPath = str | os.PathLike[str]


def reading(*files: str) -> AbstractContextManager[object]:
    """Say that files are being read, and what they have is being worked out, if that takes long."""
    return waiting(f"reading {_named(files)}", any(map(_large, files)))


def load_process(
    file: str, process: str | None, program: str | None = None, view: Reading | None = None
) -> Profile:
    """The profile in a file, or the part of it that one process, or one program, has counted.

    ``view`` says what of it is shown; without one it is everything.
    """
    from trodden.api.traces import load_with_counts

    profile = load_with_counts(file)
    if process is not None:
        from trodden.profile.estimated import need_counted
        from trodden.profile.processes import only

        need_counted(profile, file, "leave --process out")
        profile = only(profile, process, file)
    if program is not None:
        from trodden.profile.estimated import need_counted
        from trodden.profile.programs import only_program

        need_counted(profile, file, "leave --program out")
        profile = only_program(profile, program, file)
    return profile if view is None else view.of(profile)


def load_counted(
    file: str, process: str | None, program: str | None = None, view: Reading | None = None
) -> Profile:
    """The same of a profile that has to be of a run."""
    from trodden.profile.estimated import need_counted

    profile = load_process(file, process, program, view)
    need_counted(profile, file, "run it, with --profile paths for its paths")
    return profile


def load_paths(file: str, process: str | None, program: str | None = None) -> Profile:
    """The same of a profile that has to be of a run, and to have paths."""
    from trodden.profile.estimated import need_counted
    from trodden.report.views.hot_paths import need_paths

    profile = load_process(file, process, program)
    need_counted(profile, file, "run it with --profile paths")
    need_paths(profile, file)
    return profile


def merge(
    *files: StrPath, combine: str = "sum", strict: bool = False, output: StrPath | None = None
) -> Merged:
    """Join profiles and raw files into one profile, as ``trodden merge`` does.

    Files that are damaged or do not belong to the others are left out: see ``left_out`` and ``problems`` of
    the result.  With ``strict`` that raises :class:`trodden.errors.LeftOut` instead.  ``output`` also writes
    the profile there.
    """
    merged = merge_files((os.fspath(file) for file in files), combine, strict)
    if output is not None:
        from trodden.profile.store.trod import save

        save(merged.profile, output)
    return merged


def merge_files(
    files: Iterable[str], combine: str, strict: bool, tell: Callable[[str], None] = lambda line: None
) -> Merged:
    """The same for files that are named one by one; ``tell`` gets a line for each that is left out."""
    from trodden.api.traces import use
    from trodden.merging.merge import merge as join

    use()
    return join(files, combine, strict, tell)


def collect(raws: Sequence[str], programs: Sequence[str], output: str) -> Collected:
    """Make a profile of raw files and write it to ``output``."""
    from trodden.profile.from_runs import collect_all
    from trodden.profile.store.files import refuse_inputs
    from trodden.profile.store.trod import save

    refuse_inputs(output, _read_for(raws, programs))
    with waiting(f"collecting {_named(raws)}", len(raws) >= _MANY or any(map(_large, raws))):
        collected = collect_all(raws, programs)
    save(collected.profile, output)
    return collected


def _read_for(raws: Sequence[str], programs: Sequence[str]) -> Iterator[str]:
    """Every file that a profile of raw files is made of, as far as the command line names them."""
    from trodden.collect.rawfile.find import raw_files
    from trodden.collect.trace.chunks import spool_path

    yield from programs
    for raw in raw_files(raws):
        yield from (raw, spool_path(raw))


def _named(files: Sequence[str]) -> str:
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


def _large(file: str) -> bool:
    """Whether reading a file, or all files in a directory, may take a while on an idle machine."""
    try:
        return os.path.isdir(file) or os.path.getsize(file) >= _LARGE
    except OSError:
        return False
