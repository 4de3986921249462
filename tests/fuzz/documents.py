"""Changes to documents of JSON: other values, other types, other shapes."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from random import Random
from typing import Any

_NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 255, 256, -2, -8, -9, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 53) + 1),
    *(
        (1 << 62) + 1,
        (1 << 63) - 1,
        1 << 63,
        (1 << 64) - 1,
        1 << 64,
        -(1 << 63),
        -(1 << 64),
        1 << 127,
        1 << 128,
    ),
    *(10**400, -(10**400), 10**4298),
)
_TEXTS = (
    *(
        "",
        "a",
        "\0",
        "\x1b]0;owned\x07",
        "\x1b[2J",
        "\r",
        "\n",
        "\t",
        "\x85",
        "\ud800",
        "\udc80",
        "é→",
        "x" * 5000,
    ),
    *(
        "a" * 32,
        "g" * 32,
        "0" * 32,
        "jisncrdu",
        "fifo",
        "/dev/zero",
        "/dev/tty",
        "..",
        "../escaped",
        "/",
        ".",
    ),
    *(
        "/proc/self/mem",
        "/nowhere/at/all",
        "exit",
        "EXIT",
        "%s%n",
        "*",
        "[",
        "late",
        "paths",
        "checked-paths",
    ),
)
_OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    0.5,
    -0.0,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    [0],
    ["a"],
)
_MANY = (2, 10, 300, 3000, 40_000)
_LARGEST = 1 << 20


def places_of(document: Any) -> list[tuple[Any, Any]]:
    """Every list or object in a document with each of its indices or keys."""
    found: list[tuple[Any, Any]] = []
    work = [document]
    while work:
        here = work.pop()
        members = here.items() if isinstance(here, dict) else enumerate(here)
        for key, inner in members:
            found.append((here, key))
            if isinstance(inner, dict | list):
                work.append(inner)
    return found


def change_document(random: Random, document: Any, others: Sequence[Any]) -> Any:
    """One to five changes to a copy; ``others`` are documents to take parts from."""
    changed = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        places = places_of(changed) if isinstance(changed, dict | list) else []
        if not places:
            return random.choice((*_OTHERS, *_TEXTS, *_NUMBERS))
        _change(random, places, others)
    return changed


def _change(random: Random, places: Sequence[tuple[Any, Any]], others: Sequence[Any]) -> None:
    holder, key = random.choice(places)
    value = holder[key]
    match random.randrange(10):
        case 0 | 1:
            holder[key] = _instead(random, value)
        case 2 | 3 if isinstance(value, int):
            holder[key] = value + random.choice((-2, -1, 1, 2, 100, -value, -2 * value, value))
        case 4:
            del holder[key]
        case 5 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(value))
        case 6 if isinstance(value, list):
            _reshape(random, value)
        case 7 if others:
            _graft(random, holder, key, random.choice(others))
        case 8:
            other, place = random.choice(places)
            holder[key] = copy.deepcopy(other[place])
        case _ if isinstance(value, list) and value and isinstance(value[0], int):
            value[random.randrange(len(value))] = random.choice(_NUMBERS)
        case _:
            holder[key] = _instead(random, value)


def _instead(random: Random, value: Any) -> Any:
    """Mostly another value of the same type, or else one of another."""
    if random.random() < 0.75:
        if isinstance(value, str):
            return random.choice(_TEXTS)
        if isinstance(value, int):
            return random.choice(_NUMBERS)
    return random.choice((*_OTHERS, *_TEXTS, *_NUMBERS))


def _reshape(random: Random, value: list[Any]) -> None:
    match random.randrange(4):
        case 0:
            random.shuffle(value)
        case 1:
            del value[random.randint(0, len(value)) :]
        case 2 if value:
            chosen = random.choice(value)
            value += [chosen] * min(random.choice(_MANY), _LARGEST // (1 + len(repr(chosen))))
        case _ if len(value) < _MANY[-1]:
            value *= random.choice((2, 3))


def _graft(random: Random, holder: Any, key: Any, other: Any) -> None:
    """What stands in another document under the same name, or anything that stands there."""
    places = places_of(other) if isinstance(other, dict | list) else []
    alike = [(there, name) for there, name in places if name == key]
    if places:
        there, name = random.choice(alike or places)
        holder[key] = copy.deepcopy(there[name])


def write_document(document: Any) -> bytes:
    """The text of a document; numbers may have any length and texts any half of a character."""
    return json.dumps(document, separators=(",", ":")).encode("ascii")
