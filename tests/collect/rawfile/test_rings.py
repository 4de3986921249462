"""Rings of last paths as they lie in the live file."""

from __future__ import annotations

import pytest

from trodden.collect.rawfile.model import RawLastPath
from trodden.collect.rawfile.rings import ENTRY, HEAD, last_paths_in

_ADDRESS = 0x7F0000001000
_THREAD = 5


def _address(entry: int) -> int:
    return _ADDRESS + HEAD.size + entry * ENTRY.size


def _ring(at: int, paths: list[int | None], room: int | None = None) -> bytes:
    """A ring of these paths, of function 2 of unit 9; None has never been entered."""
    entries = [
        ENTRY.pack(_address((number + 1) % len(paths)), 0 if path is None else 3, 9, path or 0)
        for number, path in enumerate(paths)
    ]
    return HEAD.pack(at, _THREAD, len(paths) if room is None else room) + b"".join(entries)


@pytest.mark.parametrize(
    ("at", "paths", "expected"),
    [
        (0, [None, None, None], []),
        (2, [7, 8, None], [7, 8]),
        (0, [10, 8, 9], [8, 9]),
        (1, [10, 8, 9], [9, 10]),
        (2, [10, 11, 9], [10, 11]),
        # What is just being written may look whole.
        (2, [7, 8, 5, None], [7, 8]),
        (0, [4], []),
    ],
)
def test_the_oldest_comes_first(at: int, paths: list[int | None], expected: list[int]) -> None:
    data = _ring(_address(at), paths) + bytes(64)
    assert last_paths_in(data, _ADDRESS) == [RawLastPath(_THREAD, 9, 2, path) for path in expected]


def test_a_ring_that_is_still_being_made_holds_nothing() -> None:
    assert last_paths_in(_ring(0, [1, 2, 3]), _ADDRESS) == []


@pytest.mark.parametrize(
    "data",
    [
        _ring(_address(3), [1, 2, 3]),
        _ring(_address(0) - 1, [1, 2, 3]),
        _ring(_address(1) + 8, [1, 2, 3]),
        _ring(_ADDRESS - 24, [1, 2, 3]),
        _ring((1 << 64) - 1, [1, 2, 3]),
        _ring(_address(1), [1, 2, 3], room=4),
        _ring(_address(1), [1, 2, 3], room=0),
    ],
)
def test_nonsense_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no valid header"):
        last_paths_in(data, _ADDRESS)
