"""Metadata nodes of a module, other than debug information."""

from __future__ import annotations

from trodden.native.ir.syntax.grammar import BRANCH_WEIGHTS

_UNSIGNED = (1 << 32) - 1


def branch_weights(epilogue: str) -> dict[str, tuple[bool, tuple[int, ...]]]:
    """The ``branch_weights`` nodes by number: whether the source states them, and the weights."""
    return {
        number: (bool(expected), tuple(int(word.split()[-1]) & _UNSIGNED for word in weights.split(", ")))
        for number, expected, weights in BRANCH_WEIGHTS.findall(epilogue)
    }
