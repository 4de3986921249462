"""Pieces of YAML, some of them malformed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.suite.inputs.texts import drawn, vocabulary

BETWEEN = "\n%%%%\n"
"""Separates two pieces."""

_SCALARS = ("true", "No", "~", "''", '"tab\\there"', "0x1F", "-17", "3.25e4", ".inf", "2021-03-05", "'it''s'")
_BREAKS = ("\t", "[", "]", "{", ": ", "&", "*nowhere", '"', "%", "@", "- ", "|")


def settings(random: Random, pieces: int) -> str:
    """Settings of services, with anchors, aliases, comments and blocks of text."""
    words = vocabulary(random, 300)
    return BETWEEN.join(_broken(random, "\n".join(_services(random, words)), 0.3) for _ in range(pieces))


def nests(random: Random, pieces: int) -> str:
    """Nested collections, some in flow style and some in block style, several documents a piece."""
    words = vocabulary(random, 120)
    found: list[str] = []
    for _ in range(pieces):
        documents = ["\n".join(_nest(random, words, 2, 0)) for _ in range(random.randint(1, 3))]
        found.append(_broken(random, "\n---\n".join(documents), 0.3))
    return BETWEEN.join(found)


def _services(random: Random, words: list[str]) -> Iterator[str]:
    yield "# " + " ".join(drawn(random, words, 8))
    yield "defaults: &defaults"
    yield f'  image: "{random.choice(words)}:{random.randrange(9)}.{random.randrange(20)}"'
    yield f"  limits: {{cpu: {random.randrange(16) / 4}, memory: {random.randrange(1, 64)}Gi, swap: no}}"
    yield "services:"
    for service in random.sample(words, random.randint(1, 4)):
        yield f"  {service}:  # {random.choice(words)}"
        yield "    <<: *defaults"
        yield f"    ports: [{', '.join(str(random.randrange(1024, 60_000)) for _ in range(3))}]"
        yield f"    weight: {_scalar(random, words)}"
        yield "    environment:"
        for name in random.sample(words, random.randint(1, 4)):
            yield f"      - {name.upper()}={_plain(random, words)}"
        yield f"    command: {random.choice('|>')}{random.choice(('', '-', '+'))}"
        for _ in range(random.randint(1, 4)):
            yield "      " + " ".join(drawn(random, words, random.randint(2, 9)))


def _nest(random: Random, words: list[str], depth: int, indent: int) -> Iterator[str]:
    blanks, listed = "  " * indent, random.random() < 0.5
    for name in dict.fromkeys(random.choices(words, k=random.randint(1, 5))):
        head = f"{blanks}-" if listed else f"{blanks}{name}:"
        kind = random.randrange(4) if depth else random.randrange(2)
        if kind == 0:
            yield f"{head} {_scalar(random, words)}"
        elif kind == 1:
            yield f"{head} {_flow(random, words, 2)}"
        else:
            yield head
            yield from _nest(random, words, depth - 1, indent + 1)


def _flow(random: Random, words: list[str], depth: int) -> str:
    if depth == 0 or random.random() < 0.3:
        return _scalar(random, words)
    parts = [_flow(random, words, depth - 1) for _ in range(random.randrange(4))]
    if random.random() < 0.5:
        return f"[{', '.join(parts)}]"
    return "{" + ", ".join(f"{name}: {part}" for name, part in zip(words, parts, strict=False)) + "}"


def _scalar(random: Random, words: list[str]) -> str:
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(_SCALARS)
    if kind == 1:
        return str(random.randrange(-1_000, 100_000))
    return f'"{_plain(random, words)}"' if kind == 2 else random.choice(words)


def _plain(random: Random, words: list[str]) -> str:
    return " ".join(drawn(random, words, random.randint(1, 3)))


def _broken(random: Random, piece: str, often: float) -> str:
    if random.random() >= often:
        return piece
    at = random.randrange(len(piece))
    return piece[:at] + random.choice(_BREAKS) + piece[at:]
