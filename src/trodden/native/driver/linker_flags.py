"""Linker flags that have to be rewritten or left out.

The embedded linker knows the flags that determine the program, but rejects many that only report on the link
or make its output smaller.  The program is the same without these, so they are left out, with a message.
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
_GC_SECTIONS = "--gc-sections"
_KEEPING_LINKERS = ("-fuse-ld=lld", "-fuse-ld=mold")


def for_other_linker(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a link as a linker of the system takes them, and the flags that were left out.

    GNU ld, when it collects unreferenced sections, would collect the table of call sites too.
    """
    if any(word.startswith(_KEEPING_LINKERS) for word in words):
        return list(words), []
    kept: list[str] = []
    left: list[str] = []
    for word in words:
        options = word.split(",") if word.startswith("-Wl,") else []
        if _GC_SECTIONS not in options:
            kept.append(word)
            continue
        left.append(_GC_SECTIONS)
        rest = [option for option in options if option != _GC_SECTIONS]
        if len(rest) > 1:
            kept.append(",".join(rest))
    return kept, left


def for_embedded_linker(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a link as the embedded linker takes them, and the flags that were left out."""
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
