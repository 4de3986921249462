"""The source files that a program was built from, if they have not changed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from trodden.errors import InputMissing, SourceChanged
from trodden.profile.model import Profile
from trodden.regular_files import open_regular
from trodden.source.problems import source_problems

_LONGEST = 64 << 20


def read_source(profile: Profile, path: str, force: bool = False) -> list[str]:
    """The lines of a source file; one that differs from what was compiled is refused unless forced."""
    try:
        with open_regular(path) as stream:
            content = stream.read(_LONGEST + 1)
    except OSError as error:
        raise InputMissing(f"{path}: cannot be read: {error.strerror}; annotate needs the source") from error
    if len(content) > _LONGEST:
        raise InputMissing(f"{path}: is too large for a source; annotate shows up to {_LONGEST >> 20} MiB")
    built_from = {file.digest for unit in profile.units for file in unit.files if file.path == path} - {""}
    if not force and built_from - {sha256(content).hexdigest()}:
        raise SourceChanged(
            f"{path}: has changed since the program was built; rebuild and run again, or pass --force"
        )
    # Split as bytes: a form feed and the like, at which text would be split too, ends no line for a compiler.
    return [line.decode("utf-8", errors="replace") for line in content.splitlines()]


class Sources:
    """The sources of a profile, each read once, for reports that work without them."""

    def __init__(self, profile: Profile, force: bool = False) -> None:
        self._profile, self._force = profile, force
        self._read: dict[str, list[str] | None] = {}
        self.missing: list[str] = []
        self.changed: list[str] = []

    def lines(self, path: str) -> list[str] | None:
        """The lines of a source file; None if it cannot be read or is not what was compiled."""
        if path not in self._read:
            try:
                self._read[path] = read_source(self._profile, path, self._force)
            except (InputMissing, SourceChanged) as error:
                self._read[path] = None
                (self.missing if isinstance(error, InputMissing) else self.changed).append(path)
        return self._read[path]


def unread_sources(*sources: Sources) -> Iterator[str]:
    """What to say of the sources that were looked for so far and could not be used."""
    missing = (path for each in sources for path in each.missing)
    changed = (path for each in sources for path in each.changed)
    return source_problems(missing, changed, "the text of lines and conditions is not shown")
