"""Pictures in the format PPM.

Noise is added to a whole row at once, as one large number: without noise no byte of a row exceeds 255 minus
the largest amount of noise, so that there are no carries.
"""

from __future__ import annotations

from math import isqrt
from random import Random

_BRIGHTEST = 255 - 31


def landscape(random: Random, width: int, height: int) -> bytes:
    """Slow changes of colour with discs in front, and noise that increases from top to bottom."""
    waves = [_wave(random.randint(300, 900), width + height * 3, random.randint(20, 60)) for _ in "rgb"]
    slopes = [random.randint(0, 2) for _ in "rgb"]
    discs = [_Disc(random, width, height) for _ in range(60)]
    rows: list[bytes] = []
    for y in range(height):
        row = bytearray(3 * width)
        for channel, (wave, slope) in enumerate(zip(waves, slopes, strict=True)):
            row[channel::3] = wave[slope * y : slope * y + width]
        for disc in discs:
            disc.draw(row, y, width)
        rows.append(_noisy(random, row, 1 + 5 * y // height))
    return _ppm(width, height, rows)


def drawing(random: Random, width: int, height: int) -> bytes:
    """Boxes of one colour and rows of strokes, as on a page of a manual, with little noise."""
    boxes = [_Box(random, width, height) for _ in range(45)]
    strokes = [bytes(random.choices((20, 230), (1, 3), k=width)) for _ in range(12)]
    rows: list[bytes] = []
    for y in range(height):
        row = bytearray(bytes((_BRIGHTEST,)) * (3 * width))
        for box in boxes:
            box.draw(row, y)
        if y % 18 < 7:
            line = strokes[(y // 18 * 5 + y % 18) % len(strokes)]
            start, end = width // 12, width - width // 5
            for channel in range(3):
                row[3 * start + channel : 3 * end : 3] = line[start:end].replace(
                    b"\xe6", bytes((_BRIGHTEST,))
                )
        rows.append(_noisy(random, row, 1))
    return _ppm(width, height, rows)


def _wave(period: int, length: int, low: int) -> bytes:
    """Parabolas up and down, alternating."""
    half = period // 2
    one = [4 * x * (half - x) * (110 - low) // (half * half) for x in range(half)]
    both = bytes([*(110 + y for y in one), *(110 - y for y in one)])
    return both * (length // len(both) + 1)


def _noisy(random: Random, row: bytearray, bits: int) -> bytes:
    """The row with up to ``2**bits - 1`` added to each byte of it."""
    mask = int.from_bytes(bytes(((1 << bits) - 1,)) * len(row), "little")
    noise = random.getrandbits(8 * len(row)) & mask
    return (int.from_bytes(row, "little") + noise).to_bytes(len(row), "little")


def _ppm(width: int, height: int, rows: list[bytes]) -> bytes:
    return b"P6\n%d %d\n255\n" % (width, height) + b"".join(rows)


def _colour(random: Random) -> bytes:
    return bytes(random.randint(0, _BRIGHTEST) for _ in "rgb")


class _Disc:
    """A disc with stripes across it."""

    def __init__(self, random: Random, width: int, height: int) -> None:
        self.x, self.y = random.randrange(width), random.randrange(height)
        self.radius = random.randint(height // 40 + 2, height // 6 + 3)
        self.colours = (_colour(random), _colour(random))
        self.stripe = random.randint(3, 40)

    def draw(self, row: bytearray, y: int, width: int) -> None:
        """Draw its part of row ``y``."""
        away = y - self.y
        if abs(away) < self.radius:
            half = isqrt(self.radius * self.radius - away * away)
            start, end = max(0, self.x - half), min(width, self.x + half)
            if end > start:
                row[3 * start : 3 * end] = self.colours[away // self.stripe % 2] * (end - start)


class _Box:
    """A rectangle of one colour."""

    def __init__(self, random: Random, width: int, height: int) -> None:
        self.left, self.top = random.randrange(width - 8), random.randrange(height)
        self.right = min(width, self.left + random.randint(8, width // 4))
        self.bottom = self.top + random.randint(8, height // 6 + 8)
        self.colour = _colour(random)

    def draw(self, row: bytearray, y: int) -> None:
        """Draw its part of row ``y``."""
        if self.top <= y < self.bottom:
            row[3 * self.left : 3 * self.right] = self.colour * (self.right - self.left)
