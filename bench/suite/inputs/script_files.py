"""The files that the workloads of Unix commands read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from string import ascii_lowercase


def write(directory: Path) -> None:
    """Write all files into an empty directory."""
    random = Random(19)
    words = ["".join(random.choices(ascii_lowercase, k=random.randint(1, 9))) for _ in range(800)]
    prose = _prose(random, words, 2_000)
    _lines(directory / "prose", prose)
    _lines(directory / "edited", _edited(random, prose, words))
    _lines(directory / "short", prose[:60])
    _lines(directory / "shorter", _edited(random, prose[:60], words)[:45])
    _lines(directory / "spaced", [_spaced(random, line) for line in prose[:400]])
    _lines(directory / "repeated", sorted(random.choices(words, k=3_000)))
    _lines(directory / "cases", _any_case(random, random.choices(words, k=1_500)))
    _lines(directory / "records", _records(random, words, 1_200))
    _lines(directory / "numbers", [str(random.randrange(10 ** random.randint(1, 12))) for _ in range(600)])
    _lines(directory / "mixed", [_quantity(random) for _ in range(900)])
    _lines(directory / "order", _order(random, 700))
    _lines(directory / "circles", [*_order(random, 40), "n9 n3", "n30 n1", "n5 n5", "n39 n0"])
    _lines(directory / "patterns", [*random.sample(words, 12), "^q", "z$", "x[aeiou]x"])
    _lines(directory / "code", _code(random, words, 300))
    _lines(directory / "changed-code", _edited(random, _code(Random(23), words, 300), words))
    (directory / "beyond-ascii").write_text(_beyond_ascii(random, prose[:300]), encoding="utf-8")
    (directory / "bytes").write_bytes(random.randbytes(30_000) + bytes(5_000) + random.randbytes(9_000))
    (directory / "other-bytes").write_bytes(_with_changes(random, (directory / "bytes").read_bytes()))
    (directory / "names").write_bytes(b"prose\0numbers\0spaced\0")
    (directory / "zeros").write_bytes("\0".join(prose[:500]).encode())
    (directory / "empty").write_bytes(b"")
    for number, name in enumerate(("old", "new")):
        below = directory / name / "inner"
        below.mkdir(parents=True)
        for page in range(6):
            text = prose[page * 40 : page * 40 + 40]
            _lines(below / f"page{page + number * (page % 3 == 2)}.txt", text)
            _lines(directory / name / f"leaf{page}", _edited(random, text, words) if page % 2 else text)
        (directory / name / "raw.bin").write_bytes(random.randbytes(600))


def _lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def _prose(random: Random, words: Sequence[str], number: int) -> list[str]:
    """Lines of words, some empty and some much longer than others."""
    lengths = random.choices((0, 3, 8, 9, 10, 11, 12, 30), k=number)
    return [" ".join(random.choices(words, k=length)) for length in lengths]


def _edited(random: Random, lines: Sequence[str], words: Sequence[str]) -> list[str]:
    """The lines after some were deleted, inserted, or changed in a word or in blanks."""
    kept: list[str] = []
    for line in lines:
        kind = random.randrange(60)
        if kind == 0:
            continue
        if kind == 1:
            kept.append(" ".join(random.choices(words, k=7)))
        if kind == 2:
            line = line.replace(" ", "  ")
        if kind == 3:
            line = line.upper()
        if kind == 4:
            line += " " + random.choice(words)
        kept.append(line)
    return kept


def _spaced(random: Random, line: str) -> str:
    return "".join(random.choice((" ", "\t", "   ", "\r", "\f", "\v")) if c == " " else c for c in line)


def _any_case(random: Random, words: Sequence[str]) -> list[str]:
    return [random.choice((word, word.upper(), word.capitalize())) for word in sorted(words)]


def _records(random: Random, words: Sequence[str], number: int) -> list[str]:
    """Fields separated by colons; some lines have only one."""
    found = []
    for _ in range(number):
        first, second, last = random.sample(words, 3)
        fields = [first, str(random.randrange(5_000)), f"{random.uniform(-9, 9):.3f}", second, last]
        found.append(":".join(fields[: random.choice((1, 3, 5, 5, 5))]))
    return found


_MONTHS = ("JAN", "feb", "Mar", "DEC", "may", "none")


def _quantity(random: Random) -> str:
    """What sort can order by: signs, units, exponents, versions, months."""
    return random.choice(
        (
            f"{random.randrange(-900, 900)}",
            f"{random.randrange(1, 99)}{random.choice('KMGT')}",
            f"{random.uniform(-1, 1):.2e}",
            f"part-{random.randrange(9)}.{random.randrange(30)}.tar.gz",
            f"{random.choice(_MONTHS)} {random.randrange(28)}",
            f"  {random.randrange(50):03}",
        )
    )


def _order(random: Random, number: int) -> list[str]:
    """Pairs, the first of which precedes the second."""
    pairs = []
    for later in range(1, number):
        for earlier in random.sample(range(later), min(later, 2)):
            pairs.append(f"n{earlier} n{later}")
    random.shuffle(pairs)
    return pairs


def _code(random: Random, words: Sequence[str], number: int) -> list[str]:
    """What looks like C functions."""
    lines: list[str] = []
    for _ in range(number // 6):
        name, one, two = random.sample(words, 3)
        lines += [f"int {name}(int {one})", "{", f"\tif ({one} > {random.randrange(99)})", f"\t\t{two}();"]
        lines += [f"\treturn {one} + {two}[{random.randrange(9)}]; /* {name} */", "}"]
    return lines


def _beyond_ascii(random: Random, lines: Sequence[str]) -> str:
    marks = {"a": "ä", "e": "é", "o": "ø", "x": "日", "z": "ж"}
    text = "\n".join(lines)
    return "".join(marks[c] if c in marks and random.random() < 0.3 else c for c in text) + "\n"


def _with_changes(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(40):
        changed[random.randrange(1_000, len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed[:-200])
