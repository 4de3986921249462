"""What the commands of Unix work on, made by seeded generators: the same bytes on every machine.

Large files are lines of a smaller text drawn again and again, so that they are quick to make.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from bench.suite import texts


def _lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n")


def compared_train(directory: Path) -> None:
    """A table and what became of it when some amounts were changed."""
    random = Random(201)
    old = texts.table(random, 70_000)
    new = [line[:-14] + line[-14:].replace("2", "7") if random.random() < 0.02 else line for line in old]
    _lines(directory / "old", old)
    _lines(directory / "new", new)


def compared_ref(directory: Path) -> None:
    """Bytes with single ones changed here and there, a part where all are others, and one that is cut off."""
    random = Random(202)
    old = random.randbytes(1_000_000) + texts.prose(random, 700_000).encode() * 18
    new = bytearray(old)
    for _ in range(30_000):
        new[int(random.random() * len(new))] ^= 1 << int(random.random() * 8)
    new[300_000:306_000] = random.randbytes(6_000)
    (directory / "old").write_bytes(old)
    (directory / "new").write_bytes(new[:-1_000])


def searched_train(directory: Path) -> None:
    """Code and a table, and words to look for."""
    random = Random(211)
    lines = [*texts.code(random, 90_000).splitlines(), *texts.table(random, 1_500)]
    _lines(directory / "text", lines)
    patterns = ["for (int i.*256", "re[^a-m]*(.*, 1.)", *texts.vocabulary(random, 40)[30:]]
    _lines(directory / "patterns", patterns)


def searched_ref(directory: Path) -> None:
    """Prose, a log and a table, and words to look for."""
    random = Random(212)
    lines = texts.prose(random, 400_000).splitlines()
    lines += [*texts.log(random, 3_000), *texts.table(random, 4_000)]
    random.shuffle(lines)
    _lines(directory / "text", lines)
    _lines(directory / "patterns", [*texts.vocabulary(random, 400)[380:], "[?!] (Di|Me|Ru)", "^[^ ]*[aeo]t$"])


def numbers_train(directory: Path) -> None:
    """Numbers in a row, as a loop would ask for them, and a few large ones."""
    random = Random(221)
    large = [random.randrange(10**15, 10**16) for _ in range(150)]
    _lines(directory / "numbers", [str(number) for number in [*range(700_000, 712_000), *large]])


def numbers_ref(directory: Path) -> None:
    """Numbers of all sizes, products of two that are about alike among them."""
    random = Random(222)
    numbers = [random.randrange(1, 10 ** random.randint(1, 18)) for _ in range(7_000)]
    for digits in (8, 8, 9, 9):
        numbers.append(_prime(random, 10**digits) * _prime(random, 10**digits))
    numbers += [2**89 + 2**20 * number for number in range(3)]
    random.shuffle(numbers)
    _lines(directory / "numbers", [str(number) for number in numbers])


def _prime(random: Random, about: int) -> int:
    """A prime that is not far above a number, tried by all divisors."""
    number = random.randrange(about, 2 * about) | 1
    while any(number % divisor == 0 for divisor in range(3, int(number**0.5) + 1, 2)):
        number += 2
    return number


def short_lines_train(directory: Path) -> None:
    """Words, one a line."""
    random = Random(231)
    _lines(directory / "lines", texts.drawn(random, texts.vocabulary(random, 3_000), 800_000))


def short_lines_ref(directory: Path) -> None:
    """Measured values, one a line, with an empty line now and then."""
    random = Random(232)
    values = ["", *map(str, range(-30, 99))]
    _lines(directory / "lines", random.choices(values, k=4_000_000))


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
    """Files and what they need, in layers."""
    random = Random(251)
    layers = [[f"lib/{layer}/{item}.o" for item in range(100)] for layer in range(40)]
    pairs = [
        f"{first} {second}"
        for earlier, later in pairwise(layers)
        for second in later
        for first in random.sample(earlier, 3)
    ]
    _lines(directory / "pairs", pairs)


def order_ref(directory: Path) -> None:
    """Words, each after some of those before it, all in no order."""
    random = Random(252)
    words = texts.vocabulary(random, 24_000)
    random.shuffle(words)
    pairs = []
    for place, word in enumerate(words[1:], 1):
        for _ in range(1 + place % 4):
            pairs.append(f"{words[int(random.random() * place)]} {word}")
    random.shuffle(pairs)
    _lines(directory / "pairs", pairs)


def repeated_train(directory: Path) -> None:
    """Lines of a log that come a few times each."""
    random = Random(261)
    lines = [line[9:] for line in texts.log(random, 5_000)]
    _lines(directory / "lines", sorted(random.choices(lines, k=40_000)))


def repeated_ref(directory: Path) -> None:
    """The words of a language in order: some come once, others tens of thousands of times."""
    random = Random(262)
    _lines(directory / "lines", sorted(texts.drawn(random, texts.vocabulary(random, 40_000), 600_000)))


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
