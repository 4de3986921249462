"""The ring of last paths that a thread has in the live file (``native/runtime/counters/last_paths.c``).

Entries are consecutive, and each has the address of the next.  The current entry may be half written; the
oldest one is the next after it.
"""

from __future__ import annotations

import struct

from trodden.collect.rawfile.model import RawLastPath

HEAD = struct.Struct("<QII")
ENTRY = struct.Struct("<QIIQ")


def last_paths_in(data: bytes, address: int) -> list[RawLastPath]:
    """The paths in a ring that had that address in memory, the oldest first.

    :class:`ValueError` if its header is not valid.
    """
    current, thread, capacity = HEAD.unpack_from(data)
    if not current:
        return []
    first, rest = divmod(current - address - HEAD.size, ENTRY.size)
    if rest or not 0 <= first < capacity or capacity > (len(data) - HEAD.size) // ENTRY.size:
        raise ValueError("a ring of last paths has no valid header")
    entries = list(ENTRY.iter_unpack(data[HEAD.size : HEAD.size + capacity * ENTRY.size]))
    return [
        RawLastPath(thread, tag, function - 1, path)
        for _, function, tag, path in entries[first + 1 :] + entries[:first]
        if function
    ]
