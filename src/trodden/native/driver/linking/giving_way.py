"""Interposers give way to functions of the same name that the program defines itself.

The interposers are strong definitions: weak ones would lose to those of a sanitizer, which come first.
So the linker reports that such a function is defined twice.  In a second link the runtime's has another name,
in all objects of the runtime, which continue to call it.  A program whose own function wraps the C library's
finds the interposer behind it (``runtime/interpose/dlsym.c``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Sequence
from pathlib import Path

from trodden.native.driver.linking.runtime_link import is_static
from trodden.native.driver.other_instrumentation import sanitizers
from trodden.native.driver.runtime_build import compile_dlsym, find_runtime
from trodden.native.driver.toolchain import Toolchain, target_in

_OWN = "__trodden_own_"
_DUPLICATE = re.compile(r"(?:duplicate symbol: (?:.*: )?|multiple definition of [`'\"])(?P<name>\w+)")
"""How lld, mold, GNU ld and gold report a symbol that is defined twice."""
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SECTIONS_AT, _SECTION_COUNT_AT = 40, 60
_SYMBOL_TABLE, _SYMBOL_BYTES = 2, 24
_OFFSET, _SIZE, _LINK = 4, 5, 6
"""Fields of a section's header."""


def names_in_conflict(toolchain: Toolchain, words: Sequence[str], messages: str) -> set[str]:
    """The interposed functions that a linker has found defined twice, by its messages."""
    names = {found["name"] for found in _DUPLICATE.finditer(messages)}
    return names.intersection(find_runtime(toolchain, target_in(words)).exports) if names else names


def giving_way(
    toolchain: Toolchain, words: Sequence[str], names: Collection[str], directory: Path
) -> list[str]:
    """The words of a link with the runtime, where the interposers of these functions have other names.

    Objects that have to be made for it are put into ``directory``.
    """
    target = target_in(words)
    inside = f"{find_runtime(toolchain, target).directory}/"
    changed: list[str] = []
    for word in words:
        if word.startswith(inside) and (renamed := with_own_names(Path(word).read_bytes(), names)):
            made = directory / Path(word).name
            made.write_bytes(renamed)
            word = str(made)
        changed.append(word)
    # A sanitizer looks up by dlsym what its own functions stand for.
    if not is_static(toolchain, words) and not sanitizers(words):
        made = directory / "dlsym.o"
        compile_dlsym(toolchain, target, sorted(names), made)
        first = next(at for at, word in enumerate(words) if word.startswith(inside))
        changed.insert(first, str(made))
    return changed


def with_own_names(data: bytes, names: Collection[str]) -> bytes | None:
    """An object (64 bits, little-endian) whose symbols of these names have others; None if it has none."""
    (sections_at,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
    (count,) = struct.unpack_from("<H", data, _SECTION_COUNT_AT)
    headers = [sections_at + i * _SECTION.size for i in range(count)]
    table = next(header for header in headers if _section(data, header)[1] == _SYMBOL_TABLE)
    symbols = _section(data, table)
    strings_header = headers[symbols[_LINK]]
    strings = list(_section(data, strings_header))
    text = data[strings[_OFFSET] : strings[_OFFSET] + strings[_SIZE]]
    changed, added = bytearray(data), bytearray()
    for at in range(symbols[_OFFSET], symbols[_OFFSET] + symbols[_SIZE], _SYMBOL_BYTES):
        (name_at,) = struct.unpack_from("<I", data, at)
        name = text[name_at : text.index(b"\0", name_at)].decode()
        if name in names:
            struct.pack_into("<I", changed, at, len(text) + len(added))
            added += f"{_OWN}{name}\0".encode()
    if not added:
        return None
    strings[_OFFSET], strings[_SIZE] = len(changed), len(text) + len(added)
    _SECTION.pack_into(changed, strings_header, *strings)
    return bytes(changed + text + added)


def _section(data: bytes, header: int) -> tuple[int, ...]:
    return _SECTION.unpack_from(data, header)
