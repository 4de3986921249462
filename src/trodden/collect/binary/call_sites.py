"""Which call does a return address belong to?  The section ``.trodden_sites``.

Labels before and after every call say where its code lies; they cost the program nothing.  When the
program ends in the middle of a call, the active frames' return addresses are looked up here, so that
each of those blocks is known to have been entered once more than it was left (BL94 §3.2).
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from trodden.errors import BadFile

_ENTRY = struct.Struct("<QII")


class Site(NamedTuple):
    """A call site: the first four bytes of its unit's id, and its number in the unit."""

    tag: int
    number: int


class SiteTable:
    """All call sites of a program, by address.

    ``code`` are the address ranges that hold instructions: labels outside of them belong to functions
    that the linker has dropped.
    """

    def __init__(
        self,
        data: bytes,
        code: Iterable[tuple[int, int]],
        where: str,
        functions: Iterable[tuple[int, int]] = (),
    ) -> None:
        self._functions = sorted(set(functions))
        if len(data) % _ENTRY.size:
            raise BadFile(f"{where}: truncated: its table of call sites ends inside an entry")
        ranges = sorted(code)
        starts = [start for start, _ in ranges]
        self._labels: dict[int, tuple[set[Site], set[Site]]] = {}
        for address, tag, code_number in _ENTRY.iter_unpack(data):
            place = bisect_left(starts, address + 1) - 1
            if place < 0 or address > ranges[place][1]:
                continue
            before, after = self._labels.setdefault(address, (set(), set()))
            (after if code_number % 2 else before).add(Site(tag, code_number // 2))
        self._addresses = sorted(self._labels)
        self._closed = {site for _, after in self._labels.values() for site in after}

    def find(self, address: int) -> set[Site]:
        """The calls that return to ``address``: several where callees were inlined into one frame.

        A call that ends its block (an invoke, a call in tail position) has no label behind it.
        """
        opened = self.opened_before(address)
        place = bisect_left(self._addresses, address)
        after = self._labels[self._addresses[place]][1] if place < len(self._addresses) else set()
        return (opened & after) | (opened - self._closed if self._together(address) else set())

    def nearby(self, address: int) -> set[Site]:
        """The sites opened before ``address`` in the same function."""
        return self.opened_before(address) if self._together(address) else set()

    def _together(self, address: int) -> bool:
        """Whether the call that returns to ``address`` is in the function of the last label below.

        Without symbols that is taken to be so.
        """
        if not self._functions:
            return True
        before = bisect_left(self._addresses, address)
        if not before:
            return False
        label = self._addresses[before - 1]
        place = bisect_left(self._functions, (label + 1,)) - 1
        return place >= 0 and label < self._functions[place][1] and address - 1 < self._functions[place][1]

    def opened_before(self, address: int) -> set[Site]:
        """The sites whose call starts at the last label below ``address``."""
        place = bisect_left(self._addresses, address)
        return self._labels[self._addresses[place - 1]][0] if place else set()
