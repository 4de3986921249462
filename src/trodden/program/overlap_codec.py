"""The probes of overlapping paths and what a plan says of them, as columns of numbers, and back.

A probe is an operand and an operation.  One with several operands takes a row for each: the first names the
operation, those behind it say that they belong to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    CallOverlaps,
    CallSite,
    ChainPath,
    ChainPathAt,
    Channel,
    ClearOverlap,
    CountPredicate,
    ForgetPaths,
    OverlapProbe,
    Overlaps,
    PairOverlap,
    PairOverlapAt,
    PublishCall,
    PublishCallAt,
    PublishReturn,
    PublishReturnAt,
    StartOverlap,
    StartOverlapAt,
    TakeCall,
    TakeReturn,
    Tuples,
)
from trodden.plan.probes import WORD
from trodden.program.checked import ColumnError, columns, ints, same_length, whole

_CHANNELS = tuple(Channel)
MOST_SITES = 1 << 32
MOST_NUMBERS = 1 << 63
LONGEST = 64
"""No tuple has more paths than this."""

MORE = -100
"""The operation of further operands; the codes of overlap probes are from here on."""

_KINDS: tuple[type[OverlapProbe], ...] = (
    StartOverlap,
    StartOverlapAt,
    CountPredicate,
    AddOverlap,
    BumpOverlap,
    ClearOverlap,
    PublishCall,
    PublishCallAt,
    TakeCall,
    PublishReturn,
    PublishReturnAt,
    TakeReturn,
    PairOverlap,
    PairOverlapAt,
    ChainPath,
    ChainPathAt,
    ForgetPaths,
)
"""Their operations are MORE - 1, MORE - 2 and so on: a part of the format, so a new kind comes last."""

LOWEST = MORE - len(_KINDS)


def overlap_probe_to_rows(probe: OverlapProbe) -> list[tuple[int, int]]:
    """A probe as operands and operations."""
    first, *others = _operands(probe) or [0]
    kind = MORE - 1 - _KINDS.index(type(probe))
    return [(first, kind), *((other, MORE) for other in others)]


def _operands(probe: OverlapProbe) -> list[int]:
    match probe:
        case StartOverlap(add, passed, depth):
            return [add, passed, depth]
        case StartOverlapAt(number, passed, depth):
            return [number, passed, depth]
        case CountPredicate(channel) | ClearOverlap(channel):
            return [_CHANNELS.index(channel)]
        case AddOverlap(channel, value, limit):
            return [_CHANNELS.index(channel), value, *_optional(limit)]
        case BumpOverlap(channel, above):
            return [_CHANNELS.index(channel), above]
        case PublishCall(site, add):
            return [site, add]
        case PublishCallAt(site, number):
            return [site, number]
        case TakeCall(start):
            return [int(start is not None), *_optional(start)]
        case PublishReturn(add):
            return [add]
        case PublishReturnAt(path):
            return [path]
        case TakeReturn(site, start):
            return [site, *_optional(start)]
        case PairOverlap(channel, add):
            return [_CHANNELS.index(channel), add]
        case PairOverlapAt(channel, path):
            return [_CHANNELS.index(channel), path]
        case ChainPath(add, length):
            return [add, length]
        case ChainPathAt(path, length):
            return [path, length]
        case ForgetPaths():
            return []


def _optional(value: int | None) -> list[int]:
    return [] if value is None else [value]


class OverlapProbeReader:
    """Reads probes of overlapping paths and checks their operands.

    ``paths`` is the number of paths of the plan; ``channels`` are those that the plan may use, ``tuples`` the
    length of the tuples of paths that it counts, 0 if it counts none.
    """

    def __init__(self, paths: int, channels: frozenset[Channel], tuples: int) -> None:
        self.paths, self._channels, self._tuples = paths, channels, tuples
        self._readers: tuple[Callable[[Sequence[int]], OverlapProbe], ...] = (
            lambda n: StartOverlap(self._word(n, 3), *self._belonging(n)),
            lambda n: StartOverlapAt(self._word(n, 3) % WORD, *self._belonging(n)),
            lambda n: CountPredicate(self._channel(n, 1)),
            lambda n: AddOverlap(self._channel(n, 2, 3), _word(n[1]), _natural(n[2]) if n[2:] else None),
            lambda n: BumpOverlap(self._channel(n, 2), _natural(n[1])),
            lambda n: ClearOverlap(self._channel(n, 1)),
            lambda n: PublishCall(self._site(n, Channel.ENTERED, 2), _word(n[1])),
            lambda n: PublishCallAt(self._site(n, Channel.ENTERED, 2), whole(n[1], 0, self.paths)),
            self._take_call,
            lambda n: PublishReturn(self._returned(self._word(n, 1))),
            lambda n: PublishReturnAt(self._returned(self._path(n, 1))),
            lambda n: TakeReturn(
                self._site(n, Channel.RETURNED, 1, 2), whole(n[1], 1 - WORD, WORD) if n[1:] else None
            ),
            lambda n: PairOverlap(self._channel(n, 2), _word(n[1])),
            lambda n: PairOverlapAt(self._channel(n, 2), whole(n[1], 0, WORD)),
            lambda n: ChainPath(self._word(n, 2), self._length(n[1])),
            lambda n: ChainPathAt(self._path(n, 2), self._length(n[1])),
            self._forget,
        )

    def read(self, kind: int, operands: Sequence[int]) -> OverlapProbe:
        """The probe of an operation with its operands."""
        number = MORE - 1 - kind
        if not 0 <= number < len(self._readers):
            raise ColumnError("there is no such probe of overlapping paths")
        return self._readers[number](operands)

    def _belonging(self, operands: Sequence[int]) -> tuple[int, int]:
        self._needs(Channel.LOOP)
        return whole(operands[1], 1 - WORD, WORD), whole(operands[2], 1, WORD)

    def _channel(self, operands: Sequence[int], *lengths: int) -> Channel:
        _has(operands, *lengths)
        channel = _CHANNELS[whole(operands[0], 0, len(_CHANNELS))]
        self._needs(channel)
        return channel

    def _site(self, operands: Sequence[int], channel: Channel, *lengths: int) -> int:
        self._needs(channel)
        _has(operands, *lengths)
        return whole(operands[0], 0, MOST_SITES)

    def _take_call(self, operands: Sequence[int]) -> TakeCall:
        self._needs(Channel.ENTERED)
        _has(operands, 1, 2)
        if whole(operands[0], 0, 2) != len(operands) - 1:
            raise ColumnError("a probe has the wrong number of operands")
        return TakeCall(_word(operands[1]) if operands[1:] else None)

    def _returned(self, value: int) -> int:
        self._needs(Channel.RETURNED)
        return value

    def _forget(self, operands: Sequence[int]) -> ForgetPaths:
        _has(operands, 1)
        whole(operands[0], 0, 1)
        self._length(self._tuples)
        return ForgetPaths()

    def _length(self, length: int) -> int:
        if not self._tuples or length != self._tuples:
            raise ColumnError("a probe counts tuples of paths that the plan does not count")
        return length

    def _word(self, operands: Sequence[int], length: int) -> int:
        _has(operands, length)
        return _word(operands[0])

    def _path(self, operands: Sequence[int], length: int) -> int:
        _has(operands, length)
        return whole(operands[0], 0, self.paths)

    def _needs(self, channel: Channel) -> None:
        if channel not in self._channels:
            raise ColumnError("a probe belongs to overlaps that the plan does not count")


def _has(operands: Sequence[int], *lengths: int) -> None:
    if len(operands) not in lengths:
        raise ColumnError("a probe has the wrong number of operands")


def _word(value: int) -> int:
    return whole(value, 1 - WORD, WORD)


def _natural(value: int) -> int:
    return whole(value, 0, WORD)


def overlaps_to_columns(overlaps: Overlaps) -> dict[str, Any]:
    """The JSON form of how overlapping paths of loops are numbered; degree −1 is the largest."""
    headers = [header for header, _ in overlaps.degrees]
    degrees = [-1 if degree is None else degree for _, degree in overlaps.degrees]
    return {"degrees": [headers, degrees], "number": overlaps.number}


def overlaps_from_columns(data: Any, graph: Graph) -> Overlaps:
    """The same, with every block checked against its graph."""
    headers, degrees = columns(data["degrees"], 2, "degrees")
    same_length(ints(headers, 0, graph.exit), ints(degrees, -1, WORD))
    if 0 in degrees:
        raise ColumnError("a loop of degree 0 is not extended")
    if sorted(set(headers)) != headers:
        raise ColumnError("loops are not in order, or one is named twice")
    known = tuple((h, None if d < 0 else d) for h, d in zip(headers, degrees, strict=True))
    return Overlaps(known, whole(data["number"], 1, MOST_NUMBERS))


def tuples_from_columns(data: Any) -> Tuples:
    """How paths are counted in tuples: the length, and whether each tuple has a counter."""
    length, dense = columns(data, 2, "tuples")
    return Tuples(whole(length, 2, LONGEST + 1), bool(whole(dense, 0, 2)))


def calls_to_columns(calls: CallOverlaps) -> dict[str, Any]:
    """The JSON form of what is counted over calls; degree −1 is the largest."""
    document: dict[str, Any] = {
        "sites": [[site.site for site in calls.sites], [site.block for site in calls.sites]],
        "ways": [
            [number for number, site in enumerate(calls.sites) for _ in site.ways],
            [edge for site in calls.sites for edge in site.ways],
        ],
        "paired": int(calls.paired),
    }
    if calls.extended:
        degrees = (calls.entered, calls.returned)
        document["degrees"] = [-1 if degree is None else degree for degree in degrees]
        document["stops"] = list(calls.stops)
    return document


def calls_from_columns(data: Any, graph: Graph) -> CallOverlaps:
    """The same, with every block and edge checked against its graph."""
    sites, blocks = columns(data["sites"], 2, "call sites")
    same_length(ints(sites, 0, MOST_SITES), ints(blocks, 0, graph.exit))
    if sorted(set(sites)) != sites or len(set(blocks)) != len(blocks):
        raise ColumnError("call sites are not in order, or a block has two of them")
    owners, edges = columns(data["ways"], 2, "ways on")
    same_length(ints(owners, 0, len(sites)), ints(edges, 0, len(graph.edges)))
    ways: list[list[int]] = [[] for _ in sites]
    for owner, edge in zip(owners, edges, strict=True):
        if graph.edges[edge].src != blocks[owner]:
            raise ColumnError("a call returns on an edge of another block")
        ways[owner].append(edge)
    known = tuple(CallSite(s, b, tuple(w)) for s, b, w in zip(sites, blocks, ways, strict=True))
    paired = bool(whole(data["paired"], 0, 2))
    if "degrees" not in data:
        return CallOverlaps(known, paired=paired)
    degrees = [None if degree < 0 else degree for degree in ints(data["degrees"], -1, WORD)]
    if len(degrees) != 2:
        raise ColumnError("there are two degrees of overlaps over calls")
    stops = ints(data["stops"], 0, graph.exit)
    if sorted(set(stops)) != stops:
        raise ColumnError("blocks are not in order, or one is named twice")
    return CallOverlaps(known, True, degrees[0], degrees[1], tuple(stops), paired)
