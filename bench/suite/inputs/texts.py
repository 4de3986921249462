"""Texts of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from string import ascii_lowercase

_VOWELS, _CONSONANTS = "aeiou", "bcdfghklmnprstvw"
_ENDS = (". ",) * 6 + ("? ", "! ", "; ", ".\n", ".\n\n")
_TYPES = ("int", "long", "char *", "unsigned", "double", "size_t", "struct node *")
_LEVELS = ("DEBUG", "INFO", "INFO", "INFO", "WARNING", "ERROR")


def vocabulary(random: Random, number: int) -> list[str]:
    """So many different words, roughly in the order of their length."""
    found: dict[str, None] = {}
    while len(found) < number:
        syllables = 1 + len(found) * 3 // number + random.randrange(2)
        word = "".join(random.choice(_CONSONANTS) + random.choice(_VOWELS) for _ in range(syllables))
        found[word + random.choice(("", "", "n", "s", "t"))] = None
    return list(found)


def drawn(random: Random, words: Sequence[str], number: int) -> list[str]:
    """Words with the frequencies of a language (Zipf): the n-th is n times rarer than the first."""
    weights = list(accumulate(1 / (rank + 2) for rank in range(len(words))))
    return random.choices(words, cum_weights=weights, k=number)


def prose(random: Random, size: int, different: int = 4_000) -> str:
    """About so many characters of sentences and paragraphs."""
    words = drawn(random, vocabulary(random, different), size // 4)
    parts: list[str] = []
    at = made = 0
    while made < size:
        length = 3 + int(random.random() * 14)
        sentence = words[at : at + length]
        at = (at + length) % (len(words) - 20)
        if length > 8:
            sentence[length // 2] += ","
        sentence[0] = sentence[0].capitalize()
        parts += (" ".join(sentence), random.choice(_ENDS))
        made += len(parts[-2]) + 2
    return "".join(parts)


def code(random: Random, size: int) -> str:
    """About so many characters of what looks like C functions."""
    names = vocabulary(random, 700)
    parts: list[str] = []
    made = 0
    while made < size:
        name, first, second = random.sample(names, 3)
        kind = random.choice(_TYPES)
        body = "".join(_statements(random, names, (first, second), 1))
        head = f"static {kind} {name}_{first}({kind} {first}, int {second})\n{{\n"
        comment = f"/* {name.capitalize()} {first} by {second}. */\n"
        parts.append(f"{comment}{head}{body}    return {first};\n}}\n\n")
        made += len(parts[-1])
    return "".join(parts)


def _statements(random: Random, names: Sequence[str], known: tuple[str, str], depth: int) -> list[str]:
    blanks, (first, second) = "    " * depth, known
    found: list[str] = []
    for _ in range(random.randint(1, 4)):
        kind = random.randrange(5) if depth < 4 else 0
        other = random.choice(names)
        if kind < 3:
            found.append(f"{blanks}{first} = {other}({second}, {random.randrange(256)});\n")
        elif kind == 3:
            found.append(f"{blanks}if ({first} {random.choice('<>')} {random.randrange(99)}) {{\n")
            found += [*_statements(random, names, known, depth + 1), f"{blanks}}}\n"]
        else:
            found.append(f"{blanks}for (int i = 0; i < {second}; i++) {{\n")
            found += [*_statements(random, names, (second, first), depth + 1), f"{blanks}}}\n"]
    return found


def log(random: Random, lines: int) -> list[str]:
    """Lines as a server writes them: time, level, address, request, status."""
    names = vocabulary(random, 200)
    paths = ["/".join(("", *random.sample(names, random.randint(1, 4)))) for _ in range(300)]
    second, found = 0, []
    for _ in range(lines):
        second += int(random.random() * 5)
        clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
        address = f"10.{int(random.random() * 4)}.{int(random.random() * 40)}.{int(random.random() * 250)}"
        status = random.choice((200, 200, 200, 304, 404, 500))
        number = int(random.random() * 60_000)
        level, path = random.choice(_LEVELS), random.choice(paths)
        found.append(f"{clock} {level} [{address}] GET {path}?id={number} {status} {number % 977}ms")
    return found


def table(random: Random, rows: int) -> list[str]:
    """Rows of comma-separated fields: keys, names, amounts, days."""
    names = vocabulary(random, 900)
    found = ["key,name,town,amount,day"]
    for row in range(rows):
        name, town = random.choice(names), random.choice(names[:80])
        amount, day = random.random() * 4_000 - 900, int(random.random() * 365)
        date = f"2021-{1 + day // 31:02}-{1 + day % 28:02}"
        found.append(f"{row + 100_000},{name.capitalize()},{town},{amount:.2f},{date}")
    return found


def word_lines(random: Random, size: int) -> str:
    """At least so many characters of lines of twelve random words, each word as likely as any other."""
    words = ["".join(random.choices(ascii_lowercase, k=random.randint(2, 9))) for _ in range(3_000)]
    lines: list[str] = []
    made = 0
    while made < size:
        lines.append(" ".join(random.choices(words, k=12)) + "\n")
        made += len(lines[-1])
    return "".join(lines)
