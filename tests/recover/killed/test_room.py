"""Queues of nodes with room for stops, beside sorted lists."""

from __future__ import annotations

import random

from hypothesis import given

from tests.graphs import seeds
from trodden.recover.killed.room import Room

Plain = dict[int, int]
"""Room by node; the preference of a node is its number."""


def _take(room: Plain, times: int, best: bool) -> list[tuple[int, int]]:
    found = []
    for node in sorted(room, reverse=best):
        part = max(min(times, room[node]), 0)
        room[node] -= part
        times -= part
        found += [(node, part)] if part else []
    return found


@given(seeds())
def test_as_sorted_lists_do(seed: int) -> None:
    rng = random.Random(seed)
    rooms: list[tuple[Room, Plain]] = [(Room(), {}) for _ in range(4)]
    for node in range(40):
        room, plain = rooms[rng.randrange(len(rooms))]
        room.add((node, 0), node, times := rng.randint(0, 5))
        plain[node] = times
        if rng.random() < 0.4:
            wanted = rng.randint(-1, 8)
            assert list(room.take(wanted)) == _take(plain, wanted, best=True)
        if rng.random() < 0.3:
            limit = rng.randint(0, 12)
            room.restrict(limit)
            _take(plain, sum(plain.values()) - limit, best=False)
        if rng.random() < 0.05 and len(rooms) > 1:
            (one, first), (other, second) = rooms.pop(), rooms.pop()
            rooms.append((one.merged(other), first | second))
        assert [room.total for room, _ in rooms] == [sum(plain.values()) for _, plain in rooms]
