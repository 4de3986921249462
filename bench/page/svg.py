"""Bar and line charts as SVG, the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench.page.scale import Scale, scale

# Colours that people with colour blindness can distinguish (Okabe and Ito), on light and on dark.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#b8a800", "#888888")
_STYLE = """
  svg { font: 12px sans-serif; }
  .ground { fill: #ffffff; } .ink { fill: #1f2328; } .axis { stroke: #59636e; } .grid { stroke: #d1d9e0; }
  .spread { stroke: #1f2328; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; } .ink { fill: #e6edf3; } .axis { stroke: #9198a1; } .grid { stroke: #3d444d; }
    .spread { stroke: #e6edf3; }
  }
"""
_LEFT, _RIGHT, _HEIGHT, _BELOW = 84.0, 16.0, 260.0, 96.0
_TITLE, _LEGEND_LINE, _LETTER = 28.0, 18.0, 6.6
_NARROWEST, _BAR, _GAP = 560.0, 5.0, 10.0


@dataclass(frozen=True)
class Point:
    """A value, with the ends of its spread if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Picture:
    """What to draw: the names of groups, and for each series a point or nothing in each group."""

    title: str
    axis: str
    groups: tuple[str, ...]
    series: tuple[tuple[str, tuple[Point | None, ...]], ...]
    format: Callable[[float], str]
    base: float = 0.0

    def values(self) -> list[float]:
        """All numbers that have to be inside the scale."""
        points = [point for _, row in self.series for point in row if point is not None]
        ends = [(point.low, point.value, point.high) for point in points]
        return [each for three in ends for each in three if each is not None]


def bars(picture: Picture) -> str:
    """A group of bars for each name."""
    each = max(_BAR, (_NARROWEST / max(1, len(picture.groups)) - _GAP) / len(picture.series))
    each = min(each, 26.0)
    return _drawn(picture, each * len(picture.series) + _GAP, lambda frame: _bars(picture, frame, each))


def lines(picture: Picture) -> str:
    """A line for each series, through the groups from left to right."""
    group = max(64.0, _NARROWEST / max(1, len(picture.groups)))
    return _drawn(picture, group, lambda frame: _lines(picture, frame))


@dataclass(frozen=True)
class _Frame:
    """The position of the middle of a group, and that of a value."""

    scale: Scale
    top: float
    group: float

    def x(self, index: int) -> float:
        return _LEFT + (index + 0.5) * self.group

    def y(self, value: float) -> float:
        return self.top + _HEIGHT - self.scale.at(value, _HEIGHT)


def _drawn(picture: Picture, group: float, inside: Callable[[_Frame], Iterator[str]]) -> str:
    width = _LEFT + max(_NARROWEST, group * len(picture.groups)) + _RIGHT
    group = (width - _LEFT - _RIGHT) / max(1, len(picture.groups))
    legend, height_of_legend = _legend([name for name, _ in picture.series], width)
    top = _TITLE + height_of_legend + 12
    height = top + _HEIGHT + _BELOW
    frame = _Frame(scale(picture.values(), picture.base), top, group)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        f"<title>{escape(picture.title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{width:.0f}" height="{height:.0f}"/>',
        _text(_LEFT, 20, picture.title, "start", extra=' font-weight="bold"'),
        *legend,
        *_axis(picture, frame, width),
        *inside(frame),
        *_names(picture.groups, frame),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """The names of the series in as many lines as necessary, and their height."""
    x, y, found = _LEFT, _TITLE + 10, []
    for index, name in enumerate(names):
        wide = 26 + _LETTER * len(name)
        if x > _LEFT and x + wide > width - _RIGHT:
            x, y = _LEFT, y + _LEGEND_LINE
        found.append(f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10" fill="{_colour(index)}"/>')
        found.append(_text(x + 15, y, name, "start"))
        x += wide
    return found, y - _TITLE + 6


def _axis(picture: Picture, frame: _Frame, width: float) -> Iterator[str]:
    right = width - _RIGHT
    for tick in frame.scale.ticks:
        y = frame.y(tick)
        kind = "axis" if tick == picture.base else "grid"
        yield f'<line class="{kind}" x1="{_LEFT:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 6, y + 4, picture.format(tick), "end")
    middle = frame.top + _HEIGHT / 2
    yield _text(14, middle, picture.axis, "middle", extra=f' transform="rotate(-90 14 {middle:.1f})"')


def _names(groups: Sequence[str], frame: _Frame) -> Iterator[str]:
    y = frame.top + _HEIGHT + 14
    for index, name in enumerate(groups):
        x = frame.x(index) + 4
        yield _text(x, y, name, "end", extra=f' transform="rotate(-40 {x:.1f} {y:.1f})"')


def _bars(picture: Picture, frame: _Frame, each: float) -> Iterator[str]:
    base = frame.y(picture.base)
    for number, (_, row) in enumerate(picture.series):
        for index, point in enumerate(row):
            if point is None:
                continue
            x = frame.x(index) + (number - len(picture.series) / 2) * each
            y = frame.y(point.value)
            top, height = min(y, base), abs(y - base)
            yield (
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{each - 1:.1f}" height="{height:.1f}" '
                f'fill="{_colour(number)}"/>'
            )
            yield from _spread(point, x + (each - 1) / 2, frame)


def _lines(picture: Picture, frame: _Frame) -> Iterator[str]:
    for number, (_, row) in enumerate(picture.series):
        found = [(index, point) for index, point in enumerate(row) if point is not None]
        path = " ".join(f"{frame.x(index):.1f},{frame.y(point.value):.1f}" for index, point in found)
        yield f'<polyline points="{path}" fill="none" stroke="{_colour(number)}" stroke-width="2"/>'
        for index, point in found:
            x, y = frame.x(index), frame.y(point.value)
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_colour(number)}"/>'
            yield from _spread(point, x, frame)


def _spread(point: Point, x: float, frame: _Frame) -> Iterator[str]:
    if point.low is not None and point.high is not None:
        low, high = frame.y(point.low), frame.y(point.high)
        yield f'<line class="spread" x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, extra: str = "") -> str:
    return f'<text class="ink" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]
