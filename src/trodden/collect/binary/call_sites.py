"""The call site that a return address belongs to, from the section ``.trodden_sites``.

Labels before and after every call delimit its code; they add no instruction to the program.  When the program
ends in the middle of a call, the return addresses of the active frames are looked up here: each of their
blocks has been entered once more than it was left (BL94 §3.2).
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections import Counter
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

    ``code`` are the address ranges of executable sections: labels outside of them belong to functions that
    the linker has discarded.  ``functions`` are the address ranges of functions, as far as symbols state
    them.
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
            index = bisect_left(starts, address + 1) - 1
            if index < 0 or address > ranges[index][1]:
                continue
            before, after = self._labels.setdefault(address, (set(), set()))
            (after if code_number % 2 else before).add(Site(tag, code_number // 2))
        self._addresses = sorted(self._labels)
        labelled = Counter(site for before, _ in self._labels.values() for site in before)
        labelled.subtract(site for _, after in self._labels.values() for site in after)
        self._closed = {site for site, unclosed in labelled.items() if unclosed <= 0}

    def find(self, address: int) -> set[Site]:
        """The calls that return to ``address``: several where one frame contains inlined callees.

        A call that ends its block (an invoke, a call in tail position) has no label after it, even if copies
        of the call have: what was inlined at an invoke invokes what it calls elsewhere.  Where each copy has
        one, no other address is one of its.
        """
        opened = self.opened_before(address)
        index = bisect_left(self._addresses, address)
        after = self._labels[self._addresses[index]][1] if index < len(self._addresses) else set()
        within = self._is_in_function_of_label(address)
        return opened & after or (opened - self._closed if within else set())

    def nearby(self, address: int) -> set[Site]:
        """The sites whose call starts at the last label below ``address`` in the same function."""
        return self.opened_before(address) if self._is_in_function_of_label(address) else set()

    def _is_in_function_of_label(self, address: int) -> bool:
        """Whether the call that returns to ``address`` is in the function of the last label below it.

        Without symbols it is assumed to be.
        """
        if not self._functions:
            return True
        index = bisect_left(self._addresses, address)
        if not index:
            return False
        label = self._addresses[index - 1]
        function = bisect_left(self._functions, (label + 1,)) - 1
        return function >= 0 and max(label, address - 1) < self._functions[function][1]

    def opened_before(self, address: int) -> set[Site]:
        """The sites whose call starts at the last label below ``address``."""
        index = bisect_left(self._addresses, address)
        return self._labels[self._addresses[index - 1]][0] if index else set()
