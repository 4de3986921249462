"""LLVM's own estimates, read back."""

from __future__ import annotations

import pytest

from bench.oracles.llvm_estimate import as_counted, read_estimates
from bench.support.errors import BenchError
from tests.profile.making import graph_of
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module

PRINTED = """\
Printing analysis 'Branch Probability Analysis' for function 'f':
---- Branch Probabilities ----
  edge %bb -> %bb1 probability is 0x60000000 / 0x80000000 = 75.00%
  edge %bb -> %bb1 probability is 0x60000000 / 0x80000000 = 75.00%
  edge %bb -> %out probability is 0x20000000 / 0x80000000 = 25.00%
  edge %bb1 -> %bb1 probability is 0x40000000 / 0x80000000 = 50.00%
  edge %bb1 -> %out probability is 0x40000000 / 0x80000000 = 50.00%
Printing analysis results of BFI for function 'f':
block-frequency-info: f
 - bb: float = 1.0, int = 8
 - bb1: float = 1.5, int = 12
 - out: float = 1.0, int = 8

Printing analysis 'Branch Probability Analysis' for function 'g':
---- Branch Probabilities ----
Printing analysis results of BFI for function 'g':
block-frequency-info: g
 - bb: float = 1.0, int = 8
"""


def test_the_output_of_opt_becomes_frequencies_of_our_edges() -> None:
    found = read_estimates(PRINTED.splitlines())
    assert list(found) == ["f", "g"]
    graph = graph_of("f", "a>b a>b a>c b>b b>c c>exit")
    assert found["f"].edges(graph) == [0.375, 0.375, 0.25, 0.75, 0.75, 1.0, 1.0]
    assert found["g"].edges(graph_of("g", "a>exit")) == [1.0, 1.0]


def test_endless_edges_have_no_frequency() -> None:
    found = read_estimates(PRINTED.splitlines())["f"]
    found.probabilities["out", "out"] = 1.0
    graph = graph_of("f", "a>b a>b a>c b>b b>c c>c")
    assert found.edges(graph)[-3:] == [1.0, 0.0, 1.0]


def test_a_different_number_of_blocks_is_an_error() -> None:
    with pytest.raises(BenchError, match="g: has 2 blocks here and 1 for LLVM"):
        read_estimates(PRINTED.splitlines())["g"].edges(graph_of("g", "a>b b>exit"))


TWICE = """\
define i32 @f(ptr %0) {
  %2 = call i32 @setjmp(ptr %0) #0
  ret i32 %2
}

define void @g() {
  ret void
}

declare i32 @setjmp(ptr) #0

attributes #0 = { returns_twice }
"""


def test_llvm_gets_the_blocks_that_are_counted() -> None:
    sizes = [len(cut_function(each).blocks) for each in cut_module(as_counted(TWICE)).definitions]
    assert sizes == [2, 1]
    plain = TWICE.replace("returns_twice", "nounwind")
    assert as_counted(plain) == plain
