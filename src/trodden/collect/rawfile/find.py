"""Which raw files are meant: a directory stands for those in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from trodden.collect.rawfile.live import MAGIC as LIVE
from trodden.collect.rawfile.raw import MAGIC
from trodden.errors import InputMissing

_LIVE_END = ".live"
_RAW_END = ".raw"


def raw_files(given: Sequence[str | os.PathLike[str]]) -> Iterator[str]:
    """The names of all raw files that are meant; of ``X`` and ``X.live`` only the latter: it knows more."""
    names = list(_each(given))
    living = {name for name in names if name.endswith(_LIVE_END)}
    yield from (name for name in names if name + _LIVE_END not in living)


def _each(given: Sequence[str | os.PathLike[str]]) -> Iterator[str]:
    for each in given:
        name = os.fspath(each)
        if os.path.isdir(name):
            yield from _inside(name)
        else:
            yield name


def _inside(directory: str) -> list[str]:
    """The raw files of a directory.

    Others may lie beside them, so a file is taken by its first bytes; one that was cut short before these by
    its name.  ``X.live`` is what ``X`` was to be made of: if it is still there, ``X`` is not whole.
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
