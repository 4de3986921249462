"""How a profile is to be read: what of it is shown, and where its sources are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trodden.profile.copies import apart
from trodden.profile.filters import moved
from trodden.profile.model import Filter, Profile


@dataclass(frozen=True)
class Reading:
    """What a reader asks for; see :class:`trodden.profile.model.Filter`.

    ``directories`` are pairs of where sources were and where they are, ``copies``: the copies of a function
    are shown one by one.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    system: bool = False
    directories: tuple[tuple[str, str], ...] = ()
    copies: bool = False
    markers: bool = False

    def obeying(self, markers: bool) -> Reading:
        """The same, with or without obeying exclusion comments."""
        return replace(self, markers=markers)

    def of(self, profile: Profile) -> Profile:
        """The profile as it is asked for."""
        profile = moved(profile, dict(self.directories))
        if self.copies:
            profile = apart(profile)
        return replace(profile, filter=Filter(self.include, self.exclude, self.system, self.markers))
