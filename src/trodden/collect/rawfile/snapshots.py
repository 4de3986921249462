"""Copies of one live file, taken at different times while its process ran.

A process counts in one file from its start to its end.  Whoever copies that file, by hand or by a backup, has
what the process had counted until then, and the file has it again: the two must not be added up.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trodden.collect.rawfile.family import MAGIC as LIVE
from trodden.collect.rawfile.family import Inside
from trodden.collect.rawfile.model import Ending, Raw
from trodden.collect.rawfile.raw import MAGIC, read_raw
from trodden.errors import TroddenError
from trodden.recover.sparse_counters import SparseCounters

_HEAD = struct.Struct("<8sIIQQQ")
"""How both raw files and live files begin: magic, two numbers, process id, its parent's, start."""


@dataclass(frozen=True)
class _State:
    """What a file holds of a process: how much, in the order of time, and which units."""

    name: str
    order: tuple[bool, int]
    units: set[str]


def later_states(names: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Each file, with the name of one that has a later state of the same process, or ``None``."""
    same: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name in names:
        image = _image_of(name)
        if image is not None:
            same[image].append(name)
    later: dict[str, str] = {}
    for group in same.values():
        if len(group) > 1:
            later |= _earlier_ones(group)
    for name in names:
        yield name, later.get(name)


def _image_of(name: str) -> tuple[int, int] | None:
    """The process image that wrote a file, by its process id and start in nanoseconds."""
    try:
        with open(name.file if isinstance(name, Inside) else name, "rb") as stream:
            stream.seek(name.base if isinstance(name, Inside) else 0)
            head = stream.read(_HEAD.size)
    except OSError:
        return None
    if len(head) < _HEAD.size:
        return None
    magic, _, _, pid, _, start = _HEAD.unpack(head)
    return (pid, start) if magic in (MAGIC, LIVE) else None


def _earlier_ones(group: Sequence[str]) -> dict[str, str]:
    """The files of one process image whose counts another one includes, each with that other one.

    Files that are equal are left to whoever adds them up, which says so.
    """
    found: list[_State] = []
    for name in group:
        try:
            raw = read_raw(name)
        except TroddenError:
            continue
        found.append(
            _State(name, (raw.ending is Ending.EXIT, _counted(raw)), {unit.id for unit in raw.units})
        )
    latest = max(found, key=lambda each: each.order, default=None)
    return {
        each.name: latest.name
        for each in found
        if latest is not None and each.order != latest.order and each.units <= latest.units
    }


def _counted(raw: Raw) -> int:
    """How much was counted: what only grows while a process runs."""
    return (
        sum(_sum(unit.counters) for unit in raw.units)
        + sum(path.amount for path in raw.sparse_paths)
        + sum(node.count for node in raw.call_nodes)
    )


def _sum(counters: Sequence[int]) -> int:
    if isinstance(counters, SparseCounters):
        return sum(value for _, value in counters.nonzero())
    return sum(counters)
