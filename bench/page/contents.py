"""The table of contents: links to headings, by the anchors that GitHub generates."""

from __future__ import annotations

import re
from collections import Counter

_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LEVEL = "##"
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def contents(text: str) -> str:
    """A list of links to all headings of the second level."""
    seen: Counter[str] = Counter()
    links = []
    for level, title in _HEADING.findall(text):
        anchor = _NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-")
        # The second heading of the same text, at whatever level, gets a number.
        numbered = f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
        seen[anchor] += 1
        if level == _LEVEL:
            links.append(f"- [{title}](#{numbered})")
    return "\n".join(links)
