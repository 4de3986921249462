"""The raw files that a command line names: a directory stands for those in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from trodden.collect.rawfile.family import MAGIC as LIVE
from trodden.collect.rawfile.raw import MAGIC
from trodden.errors import InputMissing

_LIVE_END = ".live"
_RAW_END = ".raw"


def raw_files(given: Sequence[str | os.PathLike[str]]) -> Iterator[str]:
    """The names of all raw files; of ``X`` and ``X.live`` only the latter, which was written later."""
    names = list(_each(given))
    live = {name for name in names if name.endswith(_LIVE_END)}
    yield from (name for name in names if name + _LIVE_END not in live)


def _each(given: Sequence[str | os.PathLike[str]]) -> Iterator[str]:
    for each in given:
        name = os.fspath(each)
        if os.path.isdir(name):
            yield from _inside(name)
        else:
            yield name


def _inside(directory: str) -> list[str]:
    """The raw files of a directory.

    There may be other files, so that a raw file is recognised by its first bytes; one that was truncated
    before these, by its name.  ``X`` is made from ``X.live``: if that still exists, ``X`` is not complete.
    """
    try:
        entries = [
            entry for entry in os.scandir(directory) if not entry.name.startswith(".") and entry.is_file()
        ]
        names = sorted(entry.path for entry in entries)
    except OSError as error:
        raise InputMissing(f"{directory}: cannot be read: {error.strerror}") from error
    found = {name for name in names if name.endswith((_RAW_END, _RAW_END + _LIVE_END)) or _is_raw(name)}
    kept = [name for name in names if name in found and name + _LIVE_END not in found]
    if not kept:
        raise InputMissing(f"{directory}: there is no raw file in it; run an instrumented program first")
    return kept


def _is_raw(name: str) -> bool:
    try:
        with open(name, "rb") as stream:
            return stream.read(len(MAGIC)) in (MAGIC, LIVE)
    except OSError:
        return False
