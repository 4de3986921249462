"""Lines for the evaluator: assignments and expressions, some of them wrong."""

from __future__ import annotations

from pathlib import Path
from random import Random
from string import ascii_lowercase

_OPERATORS = "+" * 40 + "-" * 40 + "*" * 40 + "/" * 8 + "<="


def write(path: Path, random: Random, lines: int, deepest: int, misspelt: float) -> None:
    """So many lines of expressions, nested at most so deep; a given part of them has a wrong character."""
    with path.open("w") as stream:
        for number in range(lines):
            body = _expression(random, random.randint(1, deepest))
            if random.random() < misspelt:
                at = random.randrange(len(body))
                body = body[:at] + random.choice('()@?"1x') + body[at:]
            name = f"v{number % 97}"
            stream.write(f"{name} := {body}\n" if random.random() < 0.5 else f"{body}\n")


def _expression(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.15:
        kind = random.randrange(400)
        if kind < 100:
            return f"v{random.randrange(97) if kind else 99}"
        if kind == 100:
            return '"' + "".join(random.choices(ascii_lowercase, k=random.randint(0, 6))) + '"'
        return str(random.randrange(100))
    kind = random.randrange(8)
    if kind == 0:
        return f"-{_expression(random, depth - 1)}"
    if kind == 1:
        name = random.choice(["max", "min", "size", "sum", "try"])
        arguments = ", ".join(_expression(random, depth - 1) for _ in range(random.randint(1, 3)))
        return f"{name}({arguments})"
    left, right = _expression(random, depth - 1), _expression(random, depth - 1)
    return f"({left} {random.choice(_OPERATORS)} {right})"
