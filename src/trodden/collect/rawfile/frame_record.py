"""The record of a frame, which raw files and live files have in common (``struct trodden_frame``)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum

from trodden.collect.rawfile.model import RawFrame

FRAME = struct.Struct("<IIQQII")
NO_MODULE = 0xFFFFFFFF


class FrameFlag(IntEnum):
    """The flags of a frame: ``TRODDEN_FRAME_*`` in ``native/runtime/counters/live_file.h``."""

    SLOT_KNOWN = 1
    INTERRUPTED = 2
    ABANDONED = 4


_UNKNOWN_FLAGS = ~(FrameFlag.SLOT_KNOWN | FrameFlag.INTERRUPTED | FrameFlag.ABANDONED)


def frame_from(fields: Sequence[int], modules: int) -> RawFrame:
    """The frame of a record, in a file with so many modules; :class:`ValueError` if it is not valid."""
    thread, module, address, slot, flags, _ = fields
    if module >= modules and module != NO_MODULE:
        raise ValueError("a frame belongs to no module")
    if flags & _UNKNOWN_FLAGS:
        raise ValueError("a frame has unknown flags")
    return RawFrame(
        thread,
        None if module == NO_MODULE else module,
        address,
        slot if flags & FrameFlag.SLOT_KNOWN else None,
        bool(flags & FrameFlag.INTERRUPTED),
        bool(flags & FrameFlag.ABANDONED),
    )
