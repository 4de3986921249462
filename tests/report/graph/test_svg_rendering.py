"""Drawings as programs other than browsers render them: labels of edges can be read."""

from __future__ import annotations

import re
import struct
import zlib
from collections import Counter
from pathlib import Path

import pytest
import resvg_py

from trodden.api.drawings import Request, draw
from trodden.report.graph.svg import to_svg

ROOT = Path(__file__).parents[3]
Colour = tuple[int, ...]


def pixels(svg: str) -> Counter[Colour]:
    """How many pixels of a rendered picture have each colour."""
    data = bytes(resvg_py.svg_to_bytes(svg_string=svg, shape_rendering="crisp_edges"))
    assert data.startswith(b"\x89PNG")
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour_type = struct.unpack(">IIBB", content[:10])
            assert (depth, colour_type) == (8, 6)
        packed += content if kind == b"IDAT" else b""
        at += length + 12
    return _unfiltered(zlib.decompress(packed), width, height)


def _unfiltered(raw: bytes, width: int, height: int) -> Counter[Colour]:
    found: Counter[Colour] = Counter()
    stride = 4 * width
    above = bytearray(stride)
    for row in range(height):
        start = row * (stride + 1)
        filter_, line = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        for i in range(stride):
            left, up, corner = (line[i - 4] if i > 3 else 0), above[i], (above[i - 4] if i > 3 else 0)
            line[i] = (line[i] + (0, left, up, (left + up) // 2, _paeth(left, up, corner))[filter_]) & 255
        found.update(tuple(line[i : i + 3]) for i in range(0, stride, 4))
        above = line
    return found


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda each: abs(guess - each))


def test_labels_of_edges_are_visible_without_paint_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    svg = to_svg(draw("examples/bl96.cfg", (), "loop", Request.of([])))
    # Few renderers know this property; without it the drawing is as they show it.
    svg = re.sub(r"paint-order:[^;}]*;?", "", svg)
    # A machine may have no font, so the stems of letters stand for text.
    svg, labels = re.subn(r'<text class="(\w+)" x="([\d.]+)" y="([\d.]+)">[^<]*</text>', _stems, svg)
    shown = pixels(svg.replace("text.", "path.").replace("<style>", "<style>.letters { stroke: none }"))
    assert labels > 10
    assert shown[0x24, 0x52, 0x7A] >= labels


def _stems(match: re.Match[str]) -> str:
    kind, x, y = match[1], round(float(match[2])), round(float(match[3]))
    stems = " ".join(f"M{x + 4 * number},{y - 8} h1 v8 h-1 z" for number in range(3))
    return f'<path class="letters {kind}" d="{stems}"/>'
