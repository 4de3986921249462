"""Linker flags that are left out, because the linker underneath lacks them or would discard our tables."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.native.driver.linking.linker_words import linker_options, taken_apart, without_options

_LACKING = frozenset(
    {
        "add-needed",
        "copy-dt-needed-entries",
        "enable-linker-version",
        "ld-generated-unwind-info",
        "no-ld-generated-unwind-info",
        "no-print-map-discarded",
        "no-warn-execstack",
        "no-warn-rwx-segments",
        "no-warn-textrel",
        "print-map-discarded",
        "reduce-memory-overheads",
        "traditional-format",
        "warn-alternate-em",
        "warn-rwx-segments",
        "warn-section-align",
        "warn-textrel",
    }
)
"""What GNU ld knows and lld does not, of the flags that do not change the program."""
_LACKING_VALUED = ("hash-size=", "spare-dynamic-tags=")
_GC_SECTIONS = "gc-sections"
_KEEPING_LINKERS = ("-fuse-ld=lld", "-fuse-ld=mold")


def for_other_linker(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a link as a linker of the system takes them, and the flags that were left out.

    GNU ld, when it collects unreferenced sections, would collect the table of call sites too.
    """
    apart = taken_apart(words)
    if any(word.startswith(_KEEPING_LINKERS) for word in words):
        return apart, []
    return _without(apart, [(at, word) for at, word in linker_options(apart) if _name(word) == _GC_SECTIONS])


def for_embedded_linker(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a link as the embedded linker takes them, and the flags that were left out."""
    apart = taken_apart(words)
    lacking = [(at, word) for at, word in linker_options(apart) if _lacking(_name(word))]
    return _without(apart, lacking)


def _without(apart: list[str], options: Sequence[tuple[int, str]]) -> tuple[list[str], list[str]]:
    return without_options(apart, (at for at, _ in options)), [word for _, word in options]


def _name(option: str) -> str:
    """An option without its hyphens: most may have one or two."""
    return option.lstrip("-") if option.startswith("-") else ""


def _lacking(name: str) -> bool:
    return name in _LACKING or name.startswith(_LACKING_VALUED)
