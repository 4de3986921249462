from __future__ import annotations

from pathlib import Path

import pytest

from bench.build.configurations import (
    CONFIGS,
    GUIDED,
    baseline_of,
    compilers,
    config_of,
    guided,
    with_baselines,
)
from bench.support.errors import BenchError


def test_every_configuration_has_a_plain_baseline() -> None:
    baselines = {baseline_of(name) for name in CONFIGS if not name.startswith("lines-")}
    assert baselines == {"clang", "gcc", "rustc"}
    assert all(baseline_of(name) == name for name in baselines)
    assert with_baselines(["gcc-arcs", "edges", "clang"]) == ("clang", "gcc", "gcc-arcs", "edges")
    config = guided("lua", Path("/weights.trod"))
    assert config.name == f"{GUIDED}-lua"
    assert config.reads == (Path("/weights.trod"),)
    assert config.flags[-1] == "--trodden-weights=/weights.trod"


def test_compilers_are_those_of_the_configurations() -> None:
    assert compilers(["edges", "clang"], cxx=True) == {"clang-22"}
    assert compilers(["gcc-arcs"], cxx=False) == {"gcc"}
    assert compilers(["gcc-arcs", "rust-edges"], cxx=True) == {"gcc", "g++", "rustc"}


def test_a_configuration_without_a_compiler_for_a_language_says_so() -> None:
    with pytest.raises(BenchError, match="rustc: no compiler for C in this configuration"):
        config_of("rustc").driver("C")
    with pytest.raises(BenchError, match="no configuration gold; there are clang, gcc, edges"):
        config_of("gold")
