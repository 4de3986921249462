from __future__ import annotations

from pathlib import Path

import pytest

from bench.build.configurations import (
    CONFIGS,
    DEGREE_FROM,
    GUIDED,
    OVERLAP_KINDS,
    THIRD,
    WEIGHTS_FROM,
    baseline_of,
    compilers,
    config_of,
    depends_on_run,
    guided,
    overlap_config,
    with_baselines,
    with_degree,
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


def test_a_third_of_the_largest_degree_is_decided_by_a_run() -> None:
    assert depends_on_run(GUIDED) == WEIGHTS_FROM
    assert {depends_on_run(overlap_config(THIRD, kind)) for kind in OVERLAP_KINDS} == {DEGREE_FROM}
    assert depends_on_run(DEGREE_FROM) is None
    config = with_degree(overlap_config(THIRD), "lua", 7)
    assert config.name == "overlap-third-all-lua"
    assert config.flags == (*config_of("paths").flags, "--trodden-overlap=7")


def test_longer_paths_of_one_kind_have_a_driver_of_their_own() -> None:
    config = config_of(overlap_config("max", "loops"))
    assert config.cc[1].endswith("one_kind.py")
    assert config.cc[2:4] == ("loops", "cc")
    assert config.reads == (Path(config.cc[1]),)
    assert config.flags == config_of(overlap_config("max")).flags
