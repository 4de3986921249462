"""The live file: what a process had counted when it was killed.

While an instrumented process runs, everything that it has counted is in shared mappings of this file
(``native/runtime/counters/live_file.h``).  The file holds regions of the memory of the process, with the
address of each, so that pointers between regions can be followed.  The process may have been stopped at any
instruction, and the file may be damaged or forged: nothing in it is trusted before it was compared with the
real size of the file, and only what was really written is read, since most of the file is holes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from trodden.collect.rawfile.family import MAGIC
from trodden.collect.rawfile.live_call_nodes import call_nodes_in
from trodden.collect.rawfile.live_frames import frames_in, tids_in
from trodden.collect.rawfile.live_regions import REGION, LiveFile, Region, RegionKind
from trodden.collect.rawfile.live_tables import crossings_in, non_local_exits_in, sparse_paths_in
from trodden.collect.rawfile.live_units import LiveModules, modules_in, uncounted_in, units_in
from trodden.collect.rawfile.model import Ending, Raw, RawLastPath, RawModule, RawTrace, TraceEnd
from trodden.collect.rawfile.rings import last_paths_in
from trodden.errors import BadFile, LaterVersion

VERSION = 1
_HEADER = struct.Struct("<8sIIQQQQIIIIQQQ24x")
STATES = (Ending.KILLED, Ending.EXEC, Ending.SIGNAL, Ending.EXIT)
"""How the process ended, by ``enum trodden_live_state``."""
INCOMPLETE = 1
"""The flag of a file that lacks some regions."""
NO_SPACE = 2
"""The flag of a file that had no space for them."""
_TRACE_SHIFT = 16
"""Where in the flags is why the trace has stopped."""
_MOST_HEADER = 1 << 26
_LOW_TICKS = 0xFFFFFFFF


def read_live(descriptor: int, where: str, base: int = 0) -> Raw:
    """What the process with its header at ``base`` had counted; ``where`` names the file in messages."""
    file = LiveFile(descriptor, where, base)
    head = file.head(_HEADER.size)
    if len(head) < _HEADER.size:
        raise BadFile(f"{where}: truncated: its header is incomplete; run the program again")
    magic, version, header_bytes, pid, parent, start, ticks, state, signal, flags, missing, _, used, _ = (
        _HEADER.unpack(head)
    )
    if magic != MAGIC:
        raise BadFile(f"{where}: not the file of a running program")
    if version > VERSION:
        raise LaterVersion(f"{where}: written by a later trodden's runtime; update trodden to read it")
    if state >= len(STATES) or not _HEADER.size <= header_bytes <= _MOST_HEADER:
        raise file.bad("its header is not valid")
    regions = file.regions(_HEADER.size, min(used, (header_bytes - _HEADER.size) // REGION.size))
    modules = modules_in(file, regions, bool(flags & INCOMPLETE))
    units = units_in(file, regions, modules)
    frames, saved_registers, missing_at_end = frames_in(file, regions, RegionKind.END_FRAMES, modules)
    inherited, _, missing_at_fork = frames_in(file, regions, RegionKind.FORK_FRAMES, modules)
    return Raw(
        path=where,
        ending=STATES[state],
        signal=signal,
        pid=pid,
        parent=parent,
        started=start,
        modules=tuple(RawModule(module.bias, module.path) for module in modules.modules),
        units=units,
        frames=frames,
        inherited=inherited,
        non_local_exits=non_local_exits_in(file, regions, modules),
        frames_missing=bool(missing) or missing_at_end or missing_at_fork,
        sparse_paths=tuple(sparse_paths_in(file, regions, modules)),
        call_nodes=tuple(call_nodes_in(file, regions, modules)),
        saved_registers=saved_registers,
        last_paths=tuple(_last_paths(file, regions)),
        counts_missing=bool(flags & INCOMPLETE),
        no_space=bool(flags & NO_SPACE),
        uncounted=uncounted_in(regions, modules),
        start_ticks=ticks & _LOW_TICKS,
        tids=tids_in(file, regions),
        trace=_trace(file, modules, flags >> _TRACE_SHIFT & 0xFF),
        crossings=tuple(crossings_in(file, regions, modules)),
    )


def regions_of(descriptor: int, where: str) -> list[Region]:
    """The regions of a live file."""
    file = LiveFile(descriptor, where)
    head = file.head(_HEADER.size)
    if len(head) < _HEADER.size:
        raise BadFile(f"{where}: truncated: its header is incomplete; run the program again")
    header_bytes, used = (_HEADER.unpack(head)[index] for index in (2, 12))
    if not _HEADER.size <= header_bytes <= _MOST_HEADER:
        raise file.bad("its header is not valid")
    return file.regions(_HEADER.size, min(used, (header_bytes - _HEADER.size) // REGION.size))


def _trace(file: LiveFile, modules: LiveModules, stopped: int) -> RawTrace | None:
    firsts = [unit.first_function for module in modules.modules for unit in module.units]
    if stopped >= len(TraceEnd):
        raise file.bad("a trace has ended for an unknown reason")
    if not any(firsts):
        return None
    numbers = tuple(modules.positions)
    return RawTrace(
        TraceEnd(stopped),
        False,
        tuple(first - 1 if first else None for first in firsts),
        () if numbers == tuple(range(len(numbers))) else numbers,
    )


def _last_paths(file: LiveFile, regions: list[Region]) -> Iterator[RawLastPath]:
    for region in regions:
        if region.kind == RegionKind.RING:
            try:
                yield from last_paths_in(file.bytes_of(region, 0, region.size), region.address)
            except (ValueError, struct.error) as error:
                raise file.bad(str(error)) from error
