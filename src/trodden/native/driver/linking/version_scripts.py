"""Version scripts and lists of exported symbols, with the symbols by which instances of the runtime meet.

A library that lists what it exports would hide them.  Its calls into the runtime would then stay in its own
instance, which would not see the threads, jumps and exits of the rest of the process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from trodden.errors import InputMissing
from trodden.native.driver.linking.linker_words import linker_options, taken_apart

_OPTION = "version-script"
_VERSION = "TRODDEN"
"""The version of our symbols in a library whose other symbols have versions; the same in all libraries."""
_ANONYMOUS = re.compile(r"\s*\{\s*(?P<label>(?:global|local)\s*:)?")
_COMMENT = re.compile(r"/\*.*?\*/|#[^\n]*", re.DOTALL)


def with_exports(words: Sequence[str], directory: Path, names: Callable[[], Sequence[str]]) -> list[str]:
    """The words of a link, taken apart, with our symbols added to each version script.

    The scripts that result are put into ``directory``; ``names`` is called if there is one.
    """
    apart = taken_apart(words)
    options = list(linker_options(apart))
    for number, (at, option) in enumerate(options):
        name, equals, value = option.lstrip("-").partition("=")
        if name != _OPTION or not option.startswith("-"):
            continue
        made = directory / f"{number}.map"
        if equals:
            apart[at] = f"--{_OPTION}={_extended(value, made, names())}"
        elif number + 1 < len(options):
            following, value = options[number + 1]
            apart[following] = _extended(value, made, names())
    return apart


def _extended(script: str, made: Path, names: Sequence[str]) -> str:
    """The path of a copy of the script with our symbols, or of the script itself if it hides none of them."""
    try:
        text = Path(script).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        why = f"cannot be read ({error.strerror}); it lists the exported symbols"
        raise InputMissing(f"{script}: {why}") from error
    text = _COMMENT.sub(" ", text)
    if "local" not in text:
        return script
    exported = "".join(f"    {name};\n" for name in names)
    anonymous = _ANONYMOUS.match(text)
    if anonymous is None:
        # A node without a name cannot be added to others that have one.
        text = f"{text}\n{_VERSION} {{\n  global:\n{exported}}};\n"
    elif (anonymous["label"] or "").startswith("local"):
        at = anonymous.start("label")
        text = f"{text[:at]}global:\n{exported}  {text[at:]}"
    else:
        at = anonymous.end()
        text = f"{text[:at]}\n{exported}{text[at:]}"
    made.write_text(text, encoding="utf-8", errors="surrogateescape")
    return str(made)
