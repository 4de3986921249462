"""The ring of last paths that a thread has in the live file (``native/runtime/counters/last_paths.c``).

Entries lie one behind the other, each with the address of the next.  The one that the ring is at may be half
written; the oldest comes behind it.
"""

from __future__ import annotations

import struct

from trodden.collect.rawfile.model import RawLast

HEAD = struct.Struct("<QII")
ENTRY = struct.Struct("<QIIQ")


def lasts_in(data: bytes, address: int) -> list[RawLast]:
    """The paths in a ring that lay at that address, the oldest first.

    :class:`ValueError` if it is none.
    """
    at, thread, room = HEAD.unpack_from(data)
    if not at:
        return []
    first, rest = divmod(at - address - HEAD.size, ENTRY.size)
    if rest or not 0 <= first < room or room > (len(data) - HEAD.size) // ENTRY.size:
        raise ValueError("a ring of paths makes no sense")
    entries = list(ENTRY.iter_unpack(data[HEAD.size : HEAD.size + room * ENTRY.size]))
    return [
        RawLast(thread, tag, function - 1, path)
        for _, function, tag, path in entries[first + 1 :] + entries[:first]
        if function
    ]
