"""The call-path trees of a live file."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from trodden.collect.rawfile.live_regions import LiveFile, Region, RegionKind
from trodden.collect.rawfile.live_units import LiveModules
from trodden.collect.rawfile.model import ROOT, RawCallNode

_TREE = struct.Struct("<QQQQQ")
_CHUNK = struct.Struct("<QQQQ")
_CALL_NODE = struct.Struct("<QQQQQ72xIIII")


def call_nodes_in(file: LiveFile, regions: list[Region], modules: LiveModules) -> Iterator[RawCallNode]:
    """The nodes of all trees, parents first: nodes are in the order in which they were made.

    A file that is incomplete may have had no space for a node, but for those below it.
    """
    known: dict[int, int] = {}
    for region in regions:
        if region.kind == RegionKind.CALL_TREE:
            known[region.address + _TREE.size] = len(known)
            yield RawCallNode(None, 0, 0, False, 0)
    nodes: list[tuple[int, bytes]] = []
    for region in regions:
        first = 0
        if region.kind == RegionKind.CALL_TREE:
            oldest = _TREE.unpack(file.bytes_of(region, 0, _TREE.size))[3]
            if not oldest:
                continue  # nothing was written to it yet
            first = oldest - region.address
        elif region.kind != RegionKind.CALL_NODES:
            continue
        if not 0 <= first <= region.size - _CHUNK.size:
            raise file.bad("a call-path tree has no valid size")
        _, _, room, used = _CHUNK.unpack(file.bytes_of(region, first, _CHUNK.size))
        start = first + _CHUNK.size
        for number, record in file.records(region, start, _CALL_NODE, min(room, used)):
            nodes.append((region.address + start + number * _CALL_NODE.size, record))
    for address, record in nodes:
        key, target, count, _, parent, unit, function, _, _ = _CALL_NODE.unpack(record)
        if not key or unit == ROOT:
            continue
        if modules.incomplete and (parent not in known or not modules.knows_unit(unit)):
            continue
        if not modules.knows_unit(unit) or parent not in known:
            raise file.bad("a node of a call-path tree has no valid parent or function")
        if target == address:
            known[address] = len(known)
        else:
            known[-address] = len(known)
        yield RawCallNode(modules.units[unit], function, known[parent], target != address, count)
