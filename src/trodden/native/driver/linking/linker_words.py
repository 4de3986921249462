"""The words of a link, with what is for the linker itself taken apart.

A compiler passes ``-Wl,a,b`` and ``-Xlinker a`` on to its linker as ``a b``; an option and its value may come
by different words.  Here each of them is a word of its own behind ``-Xlinker``, so that nobody else has to
know the two forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

LINKER = "-Xlinker"


def taken_apart(words: Iterable[str]) -> list[str]:
    """The same words with every ``-Wl,a,b`` as ``-Xlinker a -Xlinker b``."""
    apart: list[str] = []
    value = False
    for word in words:
        if word.startswith("-Wl,") and not value:
            apart += [piece for option in word.split(",")[1:] for piece in (LINKER, option)]
        else:
            apart.append(word)
        value = not value and word == LINKER
    return apart


def for_linker(*options: str) -> list[str]:
    """Options for the linker, as words for the compiler that calls it."""
    return [piece for option in options for piece in (LINKER, option)]


def linker_options(apart: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The linker's own options among words that were taken apart, with their positions."""
    following = iter(enumerate(apart))
    for _, word in following:
        if word == LINKER:
            at = next(following, None)
            if at is not None:
                yield at


def without_options(apart: Sequence[str], positions: Iterable[int]) -> list[str]:
    """The words without the linker's options at these positions."""
    gone = {at for position in positions for at in (position - 1, position)}
    return [word for at, word in enumerate(apart) if at not in gone]
