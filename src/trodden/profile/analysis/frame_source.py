"""The functions of the source that a frame consists of: those inlined into it, and its own.

The debug information of a program says it of any instruction, if there is some
(:mod:`trodden.collect.frames.source_frames`).  Otherwise the facts say which lines a block has, and of which
inlined instances: a frame was on one of them, and where the call is known on that of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.collect.endings import StoppedFrame
from trodden.graph.cfg import EdgeKind
from trodden.program.facts import FunctionFacts, LineRef, SourceFile


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A function, and the lines of it that control was on one of; 0 if they are not known."""

    function: str
    file: str
    line: int
    last_line: int


def frame_source(
    frame: StoppedFrame, facts: FunctionFacts, files: Sequence[SourceFile]
) -> tuple[FrameSource, ...]:
    """The functions that a frame consists of, innermost first; the last one is the function itself."""
    if frame.source:
        return tuple(FrameSource(each.function, each.file, each.line, each.line) for each in frame.source)
    refs = _reached(frame, facts)
    chains = [_chain(facts, ref) for ref in refs]
    common = _common([[ref.instance for ref in chain] for chain in chains])
    found: list[FrameSource] = []
    for instance in reversed(common):
        at = [ref for chain in chains for ref in chain if ref.instance == instance and ref.line > 0]
        own = [ref.line for ref in at if ref.file == at[0].file]
        name = facts.callees[instance - 1].name if instance else facts.name
        where = files[at[0].file].path if at else files[facts.file].path
        found.append(FrameSource(name, where, min(own, default=0), max(own, default=0)))
    return tuple(found) or (FrameSource(facts.name, files[facts.file].path, 0, 0),)


def _reached(frame: StoppedFrame, facts: FunctionFacts) -> list[LineRef]:
    """The lines that a frame was on one of: the line of its position, if that is known."""
    if frame.block is None:
        return [ref for block in _left(facts) for ref in _refs(facts, block)]
    own = facts.blocks[frame.block]
    index = None if frame.position is None else own.line_at(frame.position)
    if index is not None and index >= 0 and (own.lines[index].line > 0 or own.lines[index].instance):
        return [own.lines[index]]
    return _refs(facts, frame.block)


def _refs(facts: FunctionFacts, block: int) -> list[LineRef]:
    own = facts.blocks[block]
    refs = [*own.lines, *([own.branch] if own.branch is not None and not own.lines else [])]
    return [ref for ref in refs if ref.line > 0 or ref.instance]


def _chain(facts: FunctionFacts, ref: LineRef) -> list[LineRef]:
    """A line, and the calls that it was inlined by, the outermost first."""
    chain = [ref]
    while chain[-1].instance:
        chain.append(facts.inlined[chain[-1].instance - 1])
    return chain[::-1] if facts.callees else chain[-1:]


def _common(chains: Sequence[Sequence[int]]) -> list[int]:
    """The inlined instances that all lines lie in, the outermost first."""
    if not chains:
        return []
    length = 0
    while all(len(chain) > length and chain[length] == chains[0][length] for chain in chains):
        length += 1
    return list(chains[0][:length])


def _left(facts: FunctionFacts) -> list[int]:
    """Where a function can be that is counted as left already: where nothing is decided any more.

    Of these blocks those with calls that may not return, if there are some: a frame is in a call.
    """
    graph = facts.graph
    decided: set[int] = {graph.exit}
    work = [graph.exit]
    while work:
        for edge in graph.in_edges[work.pop()]:
            source = graph.edges[edge].src
            out = [e for e in graph.out_edges[source] if graph.edges[e].kind is EdgeKind.FLOW]
            if graph.edges[edge].kind is EdgeKind.FLOW and len(out) == 1 and source not in decided:
                decided.add(source)
                work.append(source)
    found = sorted(decided - {graph.exit})
    return [block for block in found if facts.blocks[block].calls] or found
