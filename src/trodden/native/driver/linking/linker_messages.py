"""Messages of the linker in terms of the user's files.

It names temporary objects and, where the program has no debug information of its own, the locations that
probes have in ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trodden.native.lower.runtime_symbols import OWN_FILE

_REFERENCE = re.compile(rf">>> referenced by {re.escape(OWN_FILE)}:\d+[^\n]*\n>>>\s+")
_NO_C_LIBRARY = ("-nostdlib", "-nodefaultlibs", "-nolibc")
_UNDEFINED = re.compile("undefined (?:symbol|reference)")


def in_terms_of_sources(text: str, sources: Mapping[str, str]) -> str:
    """The messages with the sources of the temporary objects, which are the keys of ``sources``."""
    text = _REFERENCE.sub(">>> referenced by ", text)
    for made, source in sources.items():
        text = text.replace(made, source)
    return text


def without_c_library(words: Sequence[str], runtime: str, messages: str) -> str | None:
    """What to say of a link that has failed because the runtime found no C library; None: it has not.

    ``runtime`` is the directory of its objects.  What the linker says would be all that they refer to.
    """
    flag = next((word for word in words if word in _NO_C_LIBRARY), None)
    if flag is None or runtime not in messages or not _UNDEFINED.search(messages):
        return None
    return (
        f"{flag}: the runtime that counts needs a C library; add -lc,"
        " or build what runs without one without probes"
    )
