"""Where the records of a chunk end that was still in use when its process was killed.

The first byte of a record says how long it is, and a zero is the end of what was written; so is a record that
is not there as a whole (``native/runtime/trace/records.c``).
"""

from __future__ import annotations

import re
import struct

_SYMBOLS = re.compile(rb"[\x01-\xe0]*")
_WIDE, _TRIPS, _TRIPS_LONG, _ENTER, _RESUME, _LEFT, _SYNC = range(225, 232)
_BITS = 232
_EVENT, _LAND = 241, 242
_SHORT_ENTRIES = range(243, 256)
_LENGTHS = {
    **dict.fromkeys((_WIDE, _ENTER, _RESUME, _LAND), 4),
    **dict.fromkeys((_TRIPS, *_SHORT_ENTRIES), 2),
    _TRIPS_LONG: 9,
    _LEFT: 13,
    _EVENT: 10,
    **{_BITS + count: 1 + count for count in range(1, 9)},
}
_SYNC_HEAD = struct.Struct("<xI16x")
_FRAME_BYTES = 12
_CUT_OFF = 1 << 31


def extent(records: bytes) -> int:
    """How many of the bytes are complete records."""
    position = 0
    while True:
        symbols = _SYMBOLS.match(records, position)
        position = symbols.end() if symbols else position
        length = _length_at(records, position)
        if not length or position + length > len(records):
            return position
        position += length


def _length_at(records: bytes, position: int) -> int:
    tag = records[position] if position < len(records) else 0
    if tag != _SYNC:
        return _LENGTHS.get(tag, 0)
    if position + _SYNC_HEAD.size > len(records):
        return 0
    (frames,) = _SYNC_HEAD.unpack_from(records, position)
    return _SYNC_HEAD.size + _FRAME_BYTES * int(frames & ~_CUT_OFF)
