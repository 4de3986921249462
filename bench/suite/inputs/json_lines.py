"""Lines of JSON, some of them malformed."""

from __future__ import annotations

import json
from random import Random

from bench.suite.inputs.texts import drawn, vocabulary

Value = dict[str, "Value"] | list["Value"] | str | int | float | bool | None

_BREAKS = ("", "}", ",", '"', "\\", "\x01", "nul", "1.", "[", "\\ud800")
_TEXTS = ("plain", 'with "quotes"', "tab\there", "Grüße", "日本語", "\U0001f600", "back\\slash", "")


def orders(random: Random, lines: int) -> list[str]:
    """Orders, each like the previous one except for a few changes."""
    words = vocabulary(random, 400)
    order: dict[str, Value] = {"items": [_item(random, words) for _ in range(6)], "town": words[0]}
    found: list[str] = []
    for number in range(lines):
        order = dict(order, number=number, customer=_customer(random, words))
        items = order["items"]
        assert isinstance(items, list)
        items = list(items)
        items[random.randrange(len(items))] = _item(random, words)
        if len(items) < 9 and random.random() < 0.3:
            items.append(_item(random, words))
        elif len(items) > 3 and random.random() < 0.3:
            del items[random.randrange(len(items))]
        order["items"] = items
        found.append(_broken(random, json.dumps(order, ensure_ascii=random.random() < 0.5), 0.12))
    return found


def trees(random: Random, lines: int) -> list[str]:
    """Deep and wide values of all kinds, independent of each other."""
    words = vocabulary(random, 150)
    return [
        _broken(random, json.dumps(_tree(random, words, 5), ensure_ascii=False), 0.25) for _ in range(lines)
    ]


def _item(random: Random, words: list[str]) -> Value:
    item: dict[str, Value] = {
        "name": " ".join(drawn(random, words, 2)),
        "price": random.randrange(100_000) / 100,
        "sizes": [random.randrange(60) for _ in range(random.randrange(4))],
    }
    if random.random() < 0.3:
        item["note"] = random.choice(_TEXTS)
    if random.random() < 0.2:
        # A member is missing, or has another type.
        item.pop(random.choice(("name", "price", "sizes")))
    elif random.random() < 0.1:
        item["price"] = "free"
    return item


def _customer(random: Random, words: list[str]) -> Value:
    return {
        "name": random.choice(words).capitalize(),
        "since": 1990 + random.randrange(30),
        "discount": random.choice((None, 0, 0.05, True)),
        "address": {"street": random.choice(words), "house": random.randrange(200)},
    }


def _tree(random: Random, words: list[str], depth: int) -> Value:
    kind = random.randrange(10) if depth else random.randrange(6)
    if kind < 6:
        plain: tuple[Value, ...] = (
            random.choice(words),
            random.choice(_TEXTS),
            random.randrange(-(10**12), 10**12),
            random.randrange(10**9) / 2 ** random.randrange(40),
            random.choice((True, False)),
            None,
        )
        return plain[kind]
    size = random.randint(1, 6)
    if kind < 8:
        return [_tree(random, words, depth - 1) for _ in range(size)]
    return {random.choice(words): _tree(random, words, depth - 1) for _ in range(size)}


def _broken(random: Random, line: str, often: float) -> str:
    if random.random() >= often:
        return line
    at = random.randrange(len(line))
    return line[:at] + random.choice(_BREAKS) + line[at + 1 :]
