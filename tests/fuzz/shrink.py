"""A smaller input that meets the same bug."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.fuzz.documents import places_of
from tests.fuzz.envelopes import Envelope


def shrink(data: bytes, envelope: Envelope, fails: Callable[[bytes], bool], seconds: float) -> bytes:
    """Take away what is not needed to fail, as long as there is time."""
    end = time.monotonic() + seconds
    try:
        content = envelope.take(data)
    except ValueError:
        return data
    smaller = _smaller_documents if envelope.document else _smaller_bytes
    found = True
    while found and time.monotonic() < end:
        found = False
        for candidate in smaller(content):
            if time.monotonic() >= end:
                break
            wrapped = envelope.wrap(data, candidate)
            if fails(wrapped):
                content, best, found = candidate, wrapped, True
                break
        if found:
            data = best if len(best) < len(data) else data
    return data


def _smaller_bytes(content: bytes) -> Iterator[bytes]:
    size = len(content)
    while size:
        for start in range(0, len(content), size):
            yield content[:start] + content[start + size :]
        size //= 2


def _smaller_documents(document: Any) -> Iterator[Any]:
    """The document without one of its members, and without half of a list, large ones first."""
    places = places_of(document) if isinstance(document, dict | list) else []
    places.sort(key=lambda place: -len(str(place[0][place[1]])))
    for number in range(len(places)):
        for half in (False, True):
            changed = copy.deepcopy(document)
            again = places_of(changed)
            again.sort(key=lambda place: -len(str(place[0][place[1]])))
            holder, key = again[number]
            value = holder[key]
            if not half:
                del holder[key]
            elif isinstance(value, list) and len(value) > 1:
                del value[len(value) // 2 :]
            elif isinstance(value, str) and len(value) > 1:
                holder[key] = value[: len(value) // 2]
            else:
                continue
            yield changed
