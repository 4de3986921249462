"""Draw the architecture from the import contract: ``make docs`` writes docs/architecture.svg.

The rows are the layers of the contract in ``pyproject.toml``, in its order.  The marks are the imports that
the source really has, as import-linter's own graph sees them, those inside functions and under
``TYPE_CHECKING`` included.  A package imports only from those below it, so every mark is right of the
diagonal; one left of it would break ``make lint``.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
DRAWING = ROOT / "docs" / "architecture.svg"

_ROW, _NAME, _TEXT, _CELL, _TITLE, _GAP, _MARGIN = 24, 124, 600, 24, 104, 24, 16
_STYLE = """
  text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
  .name { font: 600 13px ui-monospace, monospace; }
  .title { font-weight: 600; font-size: 14px; }
  .row { fill: #f6f8fa; } .diagonal { fill: #d0d7de; } .import { fill: #54aeff; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; }
    .row { fill: #161b22; } .diagonal { fill: #30363d; } .import { fill: #1f6feb; }
  }
"""


@dataclass(frozen=True)
class Layers:
    """One contract: the package that it is about, and what is in it, top layer first."""

    title: str
    container: str
    members: tuple[str, ...]


def contracts(pyproject: str) -> list[Layers]:
    """The contracts of type ``layers``, in their order."""
    listed = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    return [
        Layers(
            contract["name"],
            contract["containers"][0],
            tuple(name.strip() for layer in contract["layers"] for name in re.split("[:|]", layer)),
        )
        for contract in listed
        if contract["type"] == "layers"
    ]


def imports_between(graph: grimp.ImportGraph, layers: Layers) -> set[tuple[str, str]]:
    """Which members import from which others."""
    found: set[tuple[str, str]] = set()
    for module in graph.modules:
        importer = _member(module, layers)
        used = {_member(other, layers) for other in graph.find_modules_directly_imported_by(module)}
        if importer is not None:
            found |= {(importer, other) for other in used if other is not None and other != importer}
    return found


def _member(module: str, layers: Layers) -> str | None:
    prefix = f"{layers.container}."
    name = module.removeprefix(prefix).partition(".")[0]
    return name if module.startswith(prefix) and name in layers.members else None


def purpose(container: str, member: str) -> str:
    """The first line of the docstring of a package or module."""
    home = ROOT / "src" / container.replace(".", "/") / member
    source = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    documented = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return documented.partition("\n")[0].replace("``", "")


def draw(graph: grimp.ImportGraph, blocks: Sequence[Layers]) -> str:
    """The drawing: for each contract its members, what they are for, and who imports whom."""
    lines: list[str] = []
    top = _MARGIN
    for layers in blocks:
        lines += _block(layers, imports_between(graph, layers), top)
        top += _TITLE + _ROW * len(layers.members) + _GAP
    width = 2 * _MARGIN + _NAME + _TEXT + _CELL * max(len(layers.members) for layers in blocks) + 40
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}"',
            f' viewBox="0 0 {width} {top}">',
            f"<style>{_STYLE}</style>",
            *lines,
            "</svg>\n",
        ]
    )


def _block(layers: Layers, imports: set[tuple[str, str]], top: int) -> list[str]:
    first = top + _TITLE
    left = _MARGIN + _NAME + _TEXT
    width = _NAME + _TEXT + _CELL * len(layers.members)
    lines = [f'<text class="title" x="{_MARGIN}" y="{top + 18}">{escape(layers.title)}</text>']
    for column, name in enumerate(layers.members):
        at = f"{left + _CELL * column + 16} {first - 8}"
        lines.append(f'<text transform="translate({at}) rotate(-60)">{escape(name)}</text>')
    for row, name in enumerate(layers.members):
        y = first + _ROW * row
        lines.append(f'<rect class="row" x="{_MARGIN}" y="{y}" width="{width}" height="{_ROW - 2}"/>')
        lines.append(f'<text class="name" x="{_MARGIN + 6}" y="{y + 16}">{escape(name)}</text>')
        described = escape(purpose(layers.container, name))
        lines.append(f'<text x="{_MARGIN + _NAME}" y="{y + 16}">{described}</text>')
        for column, other in enumerate(layers.members):
            x = left + _CELL * column
            if row == column:
                lines.append(_cell("diagonal", x, y))
            elif (name, other) in imports:
                lines.append(_cell("import", x, y))
    return lines


def _cell(kind: str, x: int, y: int) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{_CELL - 2}" height="{_ROW - 2}"/>'


def drawing() -> str:
    """What docs/architecture.svg has to hold."""
    blocks = contracts((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return draw(grimp.build_graph("trodden", cache_dir=None), blocks)


if __name__ == "__main__":
    DRAWING.write_text(drawing(), encoding="utf-8")
    print(DRAWING, file=sys.stderr)
