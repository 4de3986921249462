"""Graphs of random structured programs: sequences, conditionals, loops, and the jumps out of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph, build

PLAIN = ("block", "if-else", "while")
"""What BL94 §3.3.2 allows in its class of structured programs."""

FULL = (*PLAIN, "if", "do", "switch", "break", "continue", "return", "break-if", "continue-if", "return-if")


@dataclass
class _Builder:
    rng: random.Random
    kinds: Sequence[str]
    budget: int
    flow: list[tuple[int, int | None]] = field(default_factory=list)
    blocks: int = 0

    def new(self, *sources: int | None) -> int:
        """A new block that follows others; ``None`` stands for a place that control does not reach."""
        self.blocks += 1
        self.flow += [(source, self.blocks - 1) for source in sources if source is not None]
        return self.blocks - 1

    def sequence(self, at: int | None, depth: int, loop: tuple[int, int] | None) -> int | None:
        for _ in range(self.rng.randint(1, 3)):
            if at is None or self.budget <= 0:
                break
            at = self.statement(at, depth, loop)
        return at

    def statement(self, at: int, depth: int, loop: tuple[int, int] | None) -> int | None:
        self.budget -= 1
        kind = self.rng.choice(self.kinds) if depth < 5 else "block"
        jump, _, conditional = kind.partition("-")
        if jump in ("break", "continue", "return"):
            if loop is None and jump != "return":
                return self.new(at)
            target = None if loop is None or jump == "return" else loop[jump == "continue"]
            self.flow.append((at, target))
            return self.new(at) if conditional else None
        match kind:
            case "if-else":
                first = self.sequence(self.new(at), depth + 1, loop)
                second = self.sequence(self.new(at), depth + 1, loop)
                return self.joined(first, second)
            case "if":
                return self.joined(at, self.sequence(self.new(at), depth + 1, loop))
            case "switch":
                ends = [at] + [
                    self.sequence(self.new(at), depth + 1, loop) for _ in range(self.rng.randint(2, 4))
                ]
                return self.joined(*ends)
            case "while":
                head = self.new(at)
                after = self.new(head)
                end = self.sequence(self.new(head), depth + 1, (after, head))
                if end is not None:
                    self.flow.append((end, head))
                return after
            case "do":
                head, test, after = self.new(at), self.new(), self.new()
                end = self.sequence(head, depth + 1, (after, test))
                if end is not None:
                    self.flow.append((end, test))
                self.flow += [(test, head), (test, after)]
                return after
        return self.new(at)

    def joined(self, *ends: int | None) -> int | None:
        return None if all(end is None for end in ends) else self.new(*ends)


def random_program(seed: int, size: int, kinds: Sequence[str] = FULL) -> Graph:
    """The graph of a program of about ``size`` statements."""
    builder = _Builder(random.Random(seed), kinds, size)
    at: int | None = builder.new()
    while at is not None and builder.budget > 0:
        at = builder.sequence(at, 0, None)
    if at is not None:
        builder.flow.append((at, None))
    names = [f"b{number}" for number in range(builder.blocks)] + ["EXIT"]
    ends = [(source, builder.blocks if target is None else target) for source, target in builder.flow]
    return build(f"program-{seed}", names, ends)


def nest(depth: int) -> Graph:
    """``depth`` while loops, one inside the other: heads 0 .. depth-1, then the end of each body."""
    names = [f"h{level}" for level in range(depth)] + [f"t{level}" for level in range(depth)] + ["EXIT"]
    flow = []
    for level in range(depth):
        flow.append((level, level + 1 if level + 1 < depth else depth + level))
        flow.append((level, depth + level - 1 if level else 2 * depth))
        flow.append((depth + level, level))
    return build("nest", names, flow)


def repeat_nest(depth: int) -> Graph:
    """``depth`` repeat-until loops, one inside the other."""
    names = [f"h{level}" for level in range(depth)] + [f"t{level}" for level in range(depth)] + ["EXIT"]
    flow = []
    for level in range(depth):
        flow.append((level, level + 1 if level + 1 < depth else depth + level))
        flow.append((depth + level, level))
        flow.append((depth + level, depth + level - 1 if level else 2 * depth))
    return build("repeat-nest", names, flow)


def chain(length: int) -> Graph:
    """A long row of if-thens."""
    names = [f"c{number}" for number in range(length)] + ["EXIT"]
    flow = [(number, min(number + 1, length)) for number in range(length)]
    flow += [(number, min(number + 2, length)) for number in range(0, length, 2)]
    return build("chain", names, flow)
