"""Messages of the linker in terms of the user's files.

It names temporary objects and, where the program has no debug information of its own, the locations that
probes have in ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trodden.native.lower.runtime_symbols import OWN_FILE

_REFERENCE = re.compile(rf">>> referenced by {re.escape(OWN_FILE)}:\d+[^\n]*\n>>>\s+")


def in_terms_of_sources(text: str, sources: Mapping[str, str]) -> str:
    """The messages with the sources of the temporary objects, which are the keys of ``sources``."""
    text = _REFERENCE.sub(">>> referenced by ", text)
    for made, source in sources.items():
        text = text.replace(made, source)
    return text
