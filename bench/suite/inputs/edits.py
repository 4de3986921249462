"""Scripts for ed, like those of a user but longer, and the texts that they edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from bench.suite.inputs import texts

_OUTPUT = "edited"
_LAST_STEPS = ("g/^$/d", "$=", f"w {_OUTPUT}", "q")


def train(directory: Path) -> None:
    """Code: names are replaced, lines are indented, comments are moved to the top."""
    random = Random(281)
    lines = texts.code(random, 150_000).splitlines()
    words = texts.vocabulary(random, 700)
    steps = (step for _ in range(28) for step in _rework(random, words, len(lines) // 2))
    _write(directory, lines, [*steps, "g|^/[*]|m0", *_LAST_STEPS])


def revised(changes: int) -> Callable[[Path], None]:
    """Prose: words are replaced; lines are moved, copied, joined, marked, deleted, inserted and restored."""

    def write(directory: Path) -> None:
        random = Random(282)
        words_of_prose = texts.prose(random, 350_000).split()
        lines = [" ".join(words_of_prose[at : at + 9]) for at in range(0, len(words_of_prose), 9)]
        words = texts.vocabulary(random, 4_000)
        steps = (step for _ in range(changes) for step in _revise(random, words, len(lines) // 3))
        _write(directory, lines, [*steps, *_LAST_STEPS])

    return write


def _write(directory: Path, lines: list[str], steps: list[str]) -> None:
    (directory / "text").write_text("\n".join(lines) + "\n")
    (directory / "script").write_text("\n".join(steps) + "\n")


def _rework(random: Random, words: list[str], last: int) -> Iterator[str]:
    word, other = random.choice(words), random.choice(words)
    line, target = random.randrange(1, last), random.randrange(1, last)
    yield from (
        f"{line},{line + 20}g/^ /s//  /",
        f"{target},{target + 30}g/{word}(/s/{word}(/{other}(/g",
        f"{line},{line + 30}g/return/s/;/; \\/* {word} *\\//",
        f"{target};/^}}/p",
    )
    yield random.choice((f"{line}m$", f"{line},{line + 30}t{target}", f"{line},{line + 1}j", f"{line}="))
    yield from (f"{target},{target + 90}m$", f"{line}ka", f"{target}p", "'a;+5p")


def _revise(random: Random, words: list[str], last: int) -> Iterator[str]:
    """One change of the text.

    An error would end the script, so a command that may match nothing is a global one.
    """
    word, other = random.choice(words[:300]), random.choice(words)
    line, target = random.randrange(1, last), random.randrange(1, last)
    yield from random.choice(
        (
            (f"{line},{line + 15}g/{word} /s/{word} \\([a-z]*\\)/\\1 {other}/", "1s/$/ ./", "u"),
            (f"{line},{line + 5}s/^/ /", "u", "u"),
            (f"{line},{line + 400}m{line + 400 + target % 90}",),
            (f"{line},{line + 60}t$", "$-50,$d"),
            (f"{line}ka", f"{target}kb", "'ap", "'am'b", "'bt'a", "'b=", "'a;+2n", "'bs/$/ (here)/"),
            (f"{line}kc", "$kd", "'c,'c+40m'd", "'d,$t0", f"{target}p", "'cd"),
            (f"{line},{line + 4}j", "s/$/ and\\", "so on/"),
            (f"{line}a", f"{word} {other}", f"{other} {word} once more", "."),
            (f"{line},{line + 20}g/^[A-M]/m{line - 1}",),
            (f"{target},{target + 10}v/{word[:2]}/s/ *$//", f"{target}l"),
            (f"{line},{line + 15}g/{word}/t.\\", f"s/{word}/<&>/g\\", "-1d"),
            (f"{line}", "/[aeiou]/", f"?{other[:1]}?", "=", f"{target}c", other.capitalize(), "."),
            (f"{line},{line + 80}y", f"{target}x", f"{target},{target + 85}d"),
            (f"{target},{target + 10}g/./m{target}",),
        )
    )
