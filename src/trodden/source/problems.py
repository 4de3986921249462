"""What a reader is told of sources that are missing, or are not those that were compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trodden.profile.filters import is_system

_MOST_NAMED = 5


def source_problems(missing: Iterable[str], changed: Iterable[str], effect: str) -> Iterator[str]:
    """One line for the files that are missing and one for those that have changed, each named once.

    ``effect`` is what a report does without them.  The sources of systems and standard libraries are missing
    on most machines, and nobody expects them.
    """
    gone, other = (
        [path for path in dict.fromkeys(paths) if not is_system(path)] for paths in (missing, changed)
    )
    if gone:
        yield (
            f"{_listed(gone)}: cannot be read, so {effect}; --source-dir OLD=NEW says where sources are now"
        )
    if other:
        yield (
            f"{_listed(other)}: changed since the build, so {effect}; build and run again, or say by"
            " --source-dir OLD=NEW where the sources of the build are"
        )


def _listed(paths: Sequence[str]) -> str:
    more = len(paths) - _MOST_NAMED
    return ", ".join(paths[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
