"""The profile as a drawing for Graphviz: blocks with their lines and counts, hot edges thick."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trodden.graph.cfg import EdgeKind
from trodden.profile.count_text import amount
from trodden.profile.estimated import mark
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.select import select
from trodden.program.facts import LineRef, SourceFile


def to_dot(profile: Profile, pattern: str | None = None) -> str:
    """The functions that ``pattern`` selects; each is a cluster if there are several."""
    functions = select(profile, pattern)
    out = ["digraph trodden {", '  node [shape=box, fontname="monospace"];', '  edge [fontname="monospace"];']
    marks = () if profile.estimate is None else (mark(profile.estimate),)
    if marks and len(functions) > 1:
        out.append(f"  label={quoted(*marks)};")
    for number, (key, function) in enumerate(functions.items()):
        if len(functions) == 1:
            out += [f"  label={quoted(key, *marks)};", *_function(function, number, "  ")]
        else:
            out += [f"  subgraph cluster_{number} {{", f"    label={quoted(key)};"]
            out += [*_function(function, number, "    "), "  }"]
    return "\n".join([*out, "}"]) + "\n"


def _function(function: FunctionProfile, number: int, indent: str) -> list[str]:
    graph = function.facts.graph
    hottest = max((count or 0 for count in function.edge_counts), default=0)
    out: list[str] = []
    for vertex in range(graph.exit):
        where = lines_text(function.facts.blocks[vertex].lines, function.facts.file, function.files)
        parts = [graph.labels[vertex], *([where] if where else []), amount(function.block_counts[vertex])]
        style = "" if function.block_counts[vertex] else ", style=dashed"
        out.append(f"{indent}b{number}_{vertex} [label={quoted(*parts)}{style}];")
    out.append(f"{indent}b{number}_{graph.exit} [label=exit, shape=plaintext];")
    for index, edge in enumerate(graph.edges):
        if edge.kind is not EdgeKind.FLOW:
            continue
        count = function.edge_counts[index]
        label = quoted("?" if count is None else amount(count))
        width = 1 + (4 * (count or 0) / hottest if hottest else 0)
        style = ", style=dashed" if count == 0 else ""
        ends = f"b{number}_{edge.src} -> b{number}_{edge.dst}"
        out.append(f"{indent}{ends} [label={label}, penwidth={width:.1f}{style}];")
    return out


def lines_text(lines: Sequence[LineRef], own: int, files: Sequence[SourceFile]) -> str:
    """The lines of a block, runs of them joined: ``12-14, 20, list.h:7``, for a block of the file ``own``."""
    runs: list[list[int]] = []
    found = {(ref.file != own, ref.file, ref.line) for ref in lines if ref.line > 0}
    for _, file, number in sorted(found):
        if runs and runs[-1][0] == file and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([file, number])
    texts: list[str] = []
    for file, first, *more in runs:
        prefix = "" if file == own else f"{os.path.basename(files[file].path)}:"
        texts.append(f"{prefix}{first}-{more[-1]}" if more else f"{prefix}{first}")
    return ", ".join(texts)


def quoted(*lines: str) -> str:
    """A string of the DOT language, one text a line."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
