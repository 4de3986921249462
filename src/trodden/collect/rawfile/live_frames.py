"""The frames that a live file holds, with the registers of those that were interrupted."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

from trodden.collect.rawfile.frame_record import FRAME, NO_MODULE, frame_from
from trodden.collect.rawfile.live_regions import LiveFile, Region, RegionKind
from trodden.collect.rawfile.live_units import LiveModules
from trodden.collect.rawfile.model import SAVED_REGISTERS, RawFrame, RawSavedRegisters, saved_registers_from

_FRAMES = struct.Struct("<IIII")
_ABANDONED_CHUNK = struct.Struct("<QQ")
_ABANDONED_BYTES = FRAME.size + SAVED_REGISTERS.size


def frames_in(
    file: LiveFile, regions: list[Region], kind: int, modules: LiveModules
) -> tuple[tuple[RawFrame, ...], tuple[RawSavedRegisters, ...], bool]:
    """The frames of all threads, the registers of those that were interrupted, and if any are missing."""
    frames: list[RawFrame] = []
    firsts: dict[int, int] = {}
    missing = False
    for region in regions:
        if region.kind != kind:
            continue
        thread, _, count, incomplete = _FRAMES.unpack(file.bytes_of(region, 0, _FRAMES.size))
        missing = missing or bool(incomplete)
        firsts.setdefault(thread, len(frames))
        data = file.bytes_of(region, _FRAMES.size, count * FRAME.size)
        frames += [_frame(file, fields, modules) for fields in FRAME.iter_unpack(data)]
    saved = []
    for region in regions if kind == RegionKind.END_FRAMES else ():
        if region.kind == RegionKind.SAVED_REGISTERS:
            data = file.bytes_of(region, 0, SAVED_REGISTERS.size)
            thread, number, registers = saved_registers_from(data)
            index = firsts.get(thread, len(frames)) + number
            if index < len(frames) and frames[index].thread == thread:
                saved.append(replace(registers, frame=index))
        elif region.kind == RegionKind.ABANDONED_FRAMES:
            for frame, data in _abandoned(file, region):
                saved.append(replace(saved_registers_from(data)[2], frame=len(frames)))
                frames.append(_frame(file, FRAME.unpack(frame), modules))
    return tuple(frames), tuple(saved), missing


def _frame(file: LiveFile, fields: tuple[int, ...], modules: LiveModules) -> RawFrame:
    thread, number, *others = fields
    known = modules.knows(number)
    if known is None:
        raise file.bad("a frame belongs to no module")
    position = modules.positions[number] if known else NO_MODULE
    try:
        return frame_from((thread, position, *others), len(modules.modules))
    except ValueError as error:
        raise file.bad(str(error)) from error


def _abandoned(file: LiveFile, region: Region) -> Iterator[tuple[bytes, bytes]]:
    """Frames that were interrupted and left before the end, each with its registers."""
    _, used = _ABANDONED_CHUNK.unpack(file.bytes_of(region, 0, _ABANDONED_CHUNK.size))
    data = file.bytes_of(region, _ABANDONED_CHUNK.size, used * _ABANDONED_BYTES)
    for at in range(0, len(data), _ABANDONED_BYTES):
        yield data[at : at + FRAME.size], data[at + FRAME.size : at + _ABANDONED_BYTES]


def tids_in(file: LiveFile, regions: list[Region]) -> dict[int, int]:
    """The kernel's ids of the threads whose frames were kept."""
    heads = (file.bytes_of(each, 0, _FRAMES.size) for each in regions if each.kind == RegionKind.END_FRAMES)
    return {thread: tid for thread, tid, _, _ in map(_FRAMES.unpack, heads) if tid}
