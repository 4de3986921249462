"""The source files that a program was built from, if they are still the same."""

from __future__ import annotations

from hashlib import sha256

from trodden.errors import InputMissing, SourceChanged
from trodden.profile.model import Profile


def read_source(profile: Profile, path: str, force: bool = False) -> list[str]:
    """The lines of a source file; one that differs from what was compiled is refused unless forced."""
    try:
        with open(path, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise InputMissing(f"{path}: cannot be read: {error.strerror}; annotate needs the source") from error
    built_from = {file.digest for unit in profile.units for file in unit.files if file.path == path} - {""}
    if not force and built_from - {sha256(content).hexdigest()}:
        raise SourceChanged(
            f"{path}: has changed since the program was built; rebuild and run again, or pass --force"
        )
    return content.decode("utf-8", errors="replace").splitlines()
