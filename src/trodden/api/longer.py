"""The longer paths of a profile in a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trodden.waiting import waiting

if TYPE_CHECKING:
    from trodden.profile.longer.model import LongerPaths
    from trodden.profile.model import Profile
    from trodden.profile.reading import Reading

TIGHT, FIXED = "tight", "fixed"


def load_for_longer(file: str, process: str | None, program: str | None, view: Reading) -> Profile:
    """A profile with all that is known of its longer paths: those of a trace are counted.

    ``process`` and ``program`` pick parts of it, as elsewhere.
    """
    from trodden.api.traces import load
    from trodden.profile.estimated import need_counted
    from trodden.profile.processes import only
    from trodden.profile.programs import only_program

    profile = load(file)
    need_counted(profile, file, "run it with --profile paths")
    if process is not None:
        profile = only(profile, process, file)
    whole = profile
    if program is not None:
        profile = only_program(profile, program, file)
    if profile.traces is None and whole.traces is not None:
        # Code of a library is traced with the programs that call it.
        counted = counted_pairs(whole)
        part = only_program(counted, program or "", file)
        profile = replace(part, traced_pairs=counted.traced_pairs)
    return view.of(counted_pairs(profile))


def counted_pairs(profile: Profile) -> Profile:
    """The profile itself; of one with a trace, the path profile that follows, with pairs of paths."""
    from trodden.profile.longer.choose import with_traced_pairs

    with waiting("counting what the trace says") as tell:
        return with_traced_pairs(profile, tell)


def longer_paths(
    profile: Profile, bounds: str = TIGHT, function: str | None = None, most: int | None = None
) -> LongerPaths:
    """Paths over back edges, calls and returns with bounds on their counts, hottest first (TZG04).

    They are exact where the profile has a trace, or pairs of paths.  ``bounds`` are the tightest ones that
    the counts allow, or those of the equations of the paper (``"fixed"``); ``function`` is a pattern.
    Of each loop and each call all that were certainly executed are listed, and of the others the ``most``
    (1000) with the largest upper bounds.
    """
    from trodden.api.traces import use
    from trodden.profile.longer.choose import MOST_LISTED, solver_named
    from trodden.profile.longer.choose import longer_paths as find
    from trodden.profile.select import select

    use()
    counted = counted_pairs(profile)
    listed = MOST_LISTED if most is None else most
    return find(counted, solver_named(bounds), listed, select(counted, function))
