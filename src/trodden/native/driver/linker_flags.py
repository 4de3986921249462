"""What the embedded linker does not understand, said in another way or left out.

It knows the options that decide what a program is; of those that only look at the link, or make it smaller,
it refuses many.  Leaving such a one out gives the same program, so that is done, and said.
"""

from __future__ import annotations

from collections.abc import Sequence

_WITH_VALUE = frozenset({"-Map", "--Map", "--icf"})
_WITHOUT = frozenset(
    {
        "--copy-dt-needed-entries",
        "--cref",
        "--emit-relocs",
        "--no-copy-dt-needed-entries",
        "--pop-state",
        "--push-state",
        "--stats",
        "--trace",
        "--warn-common",
        "-M",
        "-q",
        "-t",
    }
)


_COLLECTS = "--gc-sections"
_KEEPS_TABLES = ("-fuse-ld=lld", "-fuse-ld=mold")


def for_other_linker(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The same for a linker of the system.

    GNU's, when it drops the sections that nobody refers to, drops the table of call sites too.
    """
    if any(word.startswith(_KEEPS_TABLES) for word in words):
        return list(words), []
    kept: list[str] = []
    left: list[str] = []
    for word in words:
        options = word.split(",") if word.startswith("-Wl,") else []
        if _COLLECTS not in options:
            kept.append(word)
            continue
        left.append(_COLLECTS)
        rest = [option for option in options if option != _COLLECTS]
        if len(rest) > 1:
            kept.append(",".join(rest))
    return kept, left


def for_embedded_linker(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a link as the embedded linker takes them, and the options that were left out."""
    kept: list[str] = []
    left: list[str] = []
    for word in words:
        if not word.startswith("-Wl,"):
            kept.append(word)
            continue
        rest: list[str] = []
        options = iter(word.split(",")[1:])
        for option in options:
            name, equals, value = option.partition("=")
            if name in _WITHOUT or name.startswith("-O") or (name in _WITH_VALUE and equals):
                left.append(option)
            elif name in _WITH_VALUE:
                left.append(f"{option},{next(options, '')}")
            elif name == "--undefined":
                rest += ["-u", value if equals else next(options, "")]
            elif name.startswith("-l"):
                kept.append(option)
            else:
                rest.append(option)
        if rest:
            kept.append(",".join(["-Wl", *rest]))
    return kept, left
