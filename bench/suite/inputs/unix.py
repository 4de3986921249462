"""Large inputs of Unix commands.

Many of them repeat the lines of a smaller text, so that they are generated quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from bench.suite.inputs import texts


def _lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n")


def compared_train(directory: Path) -> None:
    """A table, and the same table with some amounts changed."""
    random = Random(201)
    old = texts.table(random, 70_000)
    new = [line[:-14] + line[-14:].replace("2", "7") if random.random() < 0.02 else line for line in old]
    _lines(directory / "old", old)
    _lines(directory / "new", new)


def compared(pages: int, changes: int) -> Callable[[Path], None]:
    """Two files that differ in single bytes, in one part entirely, and in length."""

    def write(directory: Path) -> None:
        random = Random(202)
        old = random.randbytes(1_000_000) + texts.prose(random, 700_000).encode() * pages
        new = bytearray(old)
        for _ in range(changes):
            new[int(random.random() * len(new))] ^= 1 << int(random.random() * 8)
        new[300_000:306_000] = random.randbytes(6_000)
        (directory / "old").write_bytes(old)
        (directory / "new").write_bytes(new[:-1_000])

    return write


def searched_train(directory: Path) -> None:
    """Code and a table, and patterns to search for."""
    random = Random(211)
    lines = [*texts.code(random, 90_000).splitlines(), *texts.table(random, 1_500)]
    _lines(directory / "text", lines)
    patterns = ["for (int i.*256", "re[^a-m]*(.*, 1.)", *texts.vocabulary(random, 40)[30:]]
    _lines(directory / "patterns", patterns)


def searched(times: int) -> Callable[[Path], None]:
    """So many times prose, a log and a table, and patterns to search for."""

    def write(directory: Path) -> None:
        random = Random(212)
        lines = texts.prose(random, 400_000 * times).splitlines()
        lines += [*texts.log(random, 3_000 * times), *texts.table(random, 4_000 * times)]
        random.shuffle(lines)
        _lines(directory / "text", lines)
        words = texts.vocabulary(random, 400)[380:]
        _lines(directory / "patterns", [*words, "[?!] (Di|Me|Ru)", "^[^ ]*[aeo]t$"])

    return write


def numbers_train(directory: Path) -> None:
    """Consecutive numbers, and a few large ones."""
    random = Random(221)
    large = [random.randrange(10**15, 10**16) for _ in range(150)]
    _lines(directory / "numbers", [str(number) for number in [*range(700_000, 712_000), *large]])


def numbers(times: int) -> Callable[[Path], None]:
    """So many times numbers of all sizes, among them products of two primes of similar size."""

    def write(directory: Path) -> None:
        random = Random(222)
        found = [random.randrange(1, 10 ** random.randint(1, 18)) for _ in range(7_000 * times)]
        for about in (10**8, 10**8, 10**9, 10**9) * times:
            found.append(_prime(random, about) * _prime(random, about))
        found += [2**89 + 2**20 * number for number in range(3 * times)]
        random.shuffle(found)
        _lines(directory / "numbers", [str(number) for number in found])

    return write


def _prime(random: Random, about: int) -> int:
    """A prime not far above a number, by trial division."""
    number = random.randrange(about, 2 * about) | 1
    while any(number % divisor == 0 for divisor in range(3, int(number**0.5) + 1, 2)):
        number += 2
    return number


def short_lines_train(directory: Path) -> None:
    """Words, one a line."""
    random = Random(231)
    _lines(directory / "lines", texts.drawn(random, texts.vocabulary(random, 3_000), 800_000))


def short_lines(times: int) -> Callable[[Path], None]:
    """Lines with a small number or nothing, repeated so many times."""

    def write(directory: Path) -> None:
        values = Random(232).choices(["", *map(str, range(-30, 99))], k=4_000_000)
        (directory / "lines").write_text("".join(f"{value}\n" for value in values) * times)

    return write


def summed_train(directory: Path) -> None:
    """Code, and bytes of all values."""
    random = Random(241)
    (directory / "text").write_text(texts.code(random, 400_000) * 5)
    (directory / "bytes").write_bytes(random.randbytes(2_000_000))


def summed_ref(directory: Path) -> None:
    """Prose, and bytes of which many are zero."""
    random = Random(242)
    (directory / "text").write_text(texts.prose(random, 600_000) * 15)
    (directory / "bytes").write_bytes((random.randbytes(300_000) + bytes(200_000)) * 18)


def order_train(directory: Path) -> None:
    """Files and their dependencies, in layers."""
    random = Random(251)
    layers = [[f"lib/{layer}/{item}.o" for item in range(100)] for layer in range(40)]
    pairs = [
        f"{first} {second}"
        for earlier, later in pairwise(layers)
        for second in later
        for first in random.sample(earlier, 3)
    ]
    _lines(directory / "pairs", pairs)


def order(number: int, most: int) -> Callable[[Path], None]:
    """So many words, each with some predecessors, at most ``most``, in random order."""

    def write(directory: Path) -> None:
        random = Random(252)
        words = texts.vocabulary(random, number)
        random.shuffle(words)
        pairs = []
        for position, word in enumerate(words[1:], 1):
            for _ in range(1 + position % most):
                pairs.append(f"{words[int(random.random() * position)]} {word}")
        random.shuffle(pairs)
        _lines(directory / "pairs", pairs)

    return write


def repeated_train(directory: Path) -> None:
    """Lines of a log, each repeated a few times."""
    random = Random(261)
    lines = [line[9:] for line in texts.log(random, 5_000)]
    _lines(directory / "lines", sorted(random.choices(lines, k=40_000)))


def repeated(number: int, times: int) -> Callable[[Path], None]:
    """So many sorted words of a language, some once and others very often, repeated so many times."""

    def write(directory: Path) -> None:
        random = Random(262)
        words = sorted(texts.drawn(random, texts.vocabulary(random, 40_000), number))
        _lines(directory / "lines", words * times)

    return write


def counted_train(directory: Path) -> None:
    """Code and a table."""
    random = Random(271)
    (directory / "code").write_text(texts.code(random, 110_000) * 4)
    _lines(directory / "table", texts.table(random, 5_000))


def counted_ref(directory: Path) -> None:
    """Prose and a log."""
    random = Random(272)
    (directory / "prose").write_text(texts.prose(random, 800_000) * 2)
    _lines(directory / "log", random.choices(texts.log(random, 8_000), k=16_000))
