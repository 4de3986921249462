"""Scripts for ed, written as an editor's user would, only longer, with the texts that they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from bench.suite.inputs import texts

_OUTPUT = "edited"
_ENDING = ("g/^$/d", "$=", f"w {_OUTPUT}", "q")


def train(directory: Path) -> None:
    """Code: names are changed, lines are indented, comments are gathered."""
    random = Random(281)
    lines = texts.code(random, 150_000).splitlines()
    words = texts.vocabulary(random, 700)
    steps = (step for _ in range(28) for step in _rework(random, words, len(lines) // 2))
    _write(directory, lines, [*steps, "g|^/[*]|m0", *_ENDING])


def revised(changes: int) -> Callable[[Path], None]:
    """Prose: words are replaced, lines are moved, copied, joined, marked, undone, deleted and typed in."""

    def write(directory: Path) -> None:
        random = Random(282)
        said = texts.prose(random, 350_000).split()
        lines = [" ".join(said[at : at + 9]) for at in range(0, len(said), 9)]
        words = texts.vocabulary(random, 4_000)
        steps = (step for _ in range(changes) for step in _revise(random, words, len(lines) // 3))
        _write(directory, lines, [*steps, *_ENDING])

    return write


def _write(directory: Path, lines: list[str], steps: list[str]) -> None:
    (directory / "text").write_text("\n".join(lines) + "\n")
    (directory / "script").write_text("\n".join(steps) + "\n")


def _rework(random: Random, words: list[str], last: int) -> Iterator[str]:
    word, other = random.choice(words), random.choice(words)
    line, place = random.randrange(1, last), random.randrange(1, last)
    yield from (
        f"{line},{line + 20}g/^ /s//  /",
        f"{place},{place + 30}g/{word}(/s/{word}(/{other}(/g",
        f"{line},{line + 30}g/return/s/;/; \\/* {word} *\\//",
        f"{place};/^}}/p",
    )
    yield random.choice((f"{line}m$", f"{line},{line + 30}t{place}", f"{line},{line + 1}j", f"{line}="))
    yield from (f"{place},{place + 90}m$", f"{line}ka", f"{place}p", "'a;+5p")


def _revise(random: Random, words: list[str], last: int) -> Iterator[str]:
    """One change of the text; an error would end a script, so that what may find nothing is a global one."""
    word, other = random.choice(words[:300]), random.choice(words)
    line, place = random.randrange(1, last), random.randrange(1, last)
    yield from random.choice(
        (
            (f"{line},{line + 15}g/{word} /s/{word} \\([a-z]*\\)/\\1 {other}/", "1s/$/ ./", "u"),
            (f"{line},{line + 5}s/^/ /", "u", "u"),
            (f"{line},{line + 400}m{line + 400 + place % 90}",),
            (f"{line},{line + 60}t$", "$-50,$d"),
            (f"{line}ka", f"{place}kb", "'ap", "'am'b", "'bt'a", "'b=", "'a;+2n", "'bs/$/ (here)/"),
            (f"{line}kc", "$kd", "'c,'c+40m'd", "'d,$t0", f"{place}p", "'cd"),
            (f"{line},{line + 4}j", "s/$/ and\\", "so on/"),
            (f"{line}a", f"{word} {other}", f"{other} {word} once more", "."),
            (f"{line},{line + 20}g/^[A-M]/m{line - 1}",),
            (f"{place},{place + 10}v/{word[:2]}/s/ *$//", f"{place}l"),
            (f"{line},{line + 15}g/{word}/t.\\", f"s/{word}/<&>/g\\", "-1d"),
            (f"{line}", "/[aeiou]/", f"?{other[:1]}?", "=", f"{place}c", other.capitalize(), "."),
            (f"{line},{line + 80}y", f"{place}x", f"{place},{place + 85}d"),
            (f"{place},{place + 10}g/./m{place}",),
        )
    )
