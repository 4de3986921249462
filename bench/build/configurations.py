"""Configurations that programs are built in, by name: plain, trodden's, and those of other profilers.

Everything is compiled with ``-O2``, file by file, without link-time optimisation, unless the name says
otherwise.  An instrumented build is compared with its baseline, the plain build by the same compiler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.build.config import (
    Config,
    clang,
    gcc,
    recording_clang,
    rustc,
    trodden,
    trodden_one_kind,
    trodden_rustc,
    trodden_twice,
)
from bench.build.toolchain import CLANG
from bench.support.errors import BenchError

_LEVEL = "-O2"
_PATHS = "--trodden-profile=paths"
_LINES = ("-O0", "-g")
# Without -disable-vp clang also profiles values, which no other profile here does.
_EDGES_ONLY = ("-fprofile-generate", "-mllvm", "-disable-vp")
_ATOMIC = "-fprofile-update=atomic"

GUIDED = "paths-guided"
"""Paths with weights: the profile of another configuration on *train* determines where probes are cheap."""

WEIGHTS_FROM = "paths"
"""The configuration whose profile the guided one reads."""


def _by_clang(name: str, label: str, *flags: str) -> Config:
    return clang(name, _LEVEL, *flags, label=label, baseline="clang")


def _by_gcc(name: str, label: str, *flags: str) -> Config:
    return gcc(name, _LEVEL, *flags, label=label, baseline="gcc")


def _ours(name: str, label: str, *flags: str) -> Config:
    return trodden(name, _LEVEL, *flags, label=label, baseline="clang")


_PROFILERS = (
    _by_clang("clang", "clang"),
    _by_gcc("gcc", "gcc"),
    _ours("edges", "trodden edges"),
    _ours("blocks", "trodden blocks", "--trodden-profile=blocks"),
    _ours("paths", "trodden paths", _PATHS),
    _ours(GUIDED, "trodden paths, guided", _PATHS),
    _ours("every-block", "trodden, every block", "--trodden-counters=every-block"),
    _by_clang("clang-ir", "clang IR", *_EDGES_ONLY),
    _by_clang("clang-ir-atomic", "clang IR, atomic", *_EDGES_ONLY, _ATOMIC),
    _by_clang("clang-ir-values", "clang IR, values too", "-fprofile-generate"),
    _by_clang("clang-front", "clang front end", "-fprofile-instr-generate", "-fcoverage-mapping"),
    _by_clang("clang-gcov", "clang gcov", "--coverage"),
    _by_gcc("gcc-arcs", "gcc arcs", "-fprofile-arcs"),
    _by_gcc("gcc-arcs-atomic", "gcc arcs, atomic", "-fprofile-arcs", _ATOMIC),
)

_CHECKED = (
    _ours("edges-every", "trodden, every edge", "--trodden-counters=every-edge"),
    _ours("edges-checked", "trodden edges, checked", "--trodden-counters=checked"),
    _ours("paths-checked", "trodden paths, checked", _PATHS, "--trodden-counters=checked"),
)
"""Counters on every edge, instead of the few that are sufficient or in addition to them."""

_BY_LINE = (
    trodden("lines-trodden", *_LINES, label="trodden, lines"),
    trodden("lines-early", *_LINES, "--trodden-stage=early", label="trodden, lines, early stage"),
    clang("lines-clang", "-O0", "--coverage", label="clang's gcov, lines"),
    gcc("lines-gcc", "-O0", "--coverage", label="gcc's gcov, lines"),
    clang("lines-regions", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping", label="llvm-cov, lines"),
)
"""Without optimisation, where the line counts of several tools can be compared."""

_STAGES = (
    _ours("edges-early", "trodden edges, early", "--trodden-stage=early"),
    trodden_twice("both-stages", _LEVEL, _PATHS, label="trodden edges, early, and paths", baseline="clang"),
)
"""Counts of the source as it was written: alone, and beside the paths of what really runs."""

CUT_LIMITS = ("256", "1024", "4096", "65536")
CUT_RULES = ("cheapest", "node")


def cut_config(rule: str, limit: str) -> str:
    """The name of the configuration that limits paths by this rule."""
    return f"paths-{rule}-{limit}"


def _cut(rule: str, limit: str) -> Config:
    flags = (f"--trodden-max-paths={limit}", f"--trodden-cut-by={rule}")
    return _ours(cut_config(rule, limit), f"{rule}, {limit}", _PATHS, *flags)


_PATH_OPTIONS = (
    *(_cut(rule, limit) for limit in CUT_LIMITS for rule in CUT_RULES),
    _cut("loops", "1024"),
    _ours("paths-uncut", "no limit", _PATHS, "--trodden-max-paths=none"),
    _ours("paths-cycles", "with cycles", _PATHS, "--trodden-metric=cycles"),
    _ours("paths-context", "with loop context", _PATHS, "--trodden-context=on"),
    _ours("paths-last-64", "last 64", _PATHS, "--trodden-last=64"),
    _ours("paths-last-4096", "last 4096", _PATHS, "--trodden-last=4096"),
    _ours("edges-call-paths", "edges and call paths", "--trodden-call-paths=on"),
)

OVERLAP_KINDS = ("loops", "procedures", "all")
"""Which longer paths are counted: over back edges, over calls and returns, or both."""
DEGREES = ("1", "2", "4", "max", "auto")
THIRD = "third"
"""A third of the largest degree of a program, as the paper chooses it; what it is, a run on *train* says."""
DEGREE_FROM = "overlap-max-all"
"""The configuration whose profile says it."""
PAIRS = "pairs"


def overlap_config(degree: str, kind: str = "all") -> str:
    """The name of the configuration that counts overlaps of a degree, or pairs of paths."""
    return f"pairs-{kind}" if degree == PAIRS else f"overlap-{degree}-{kind}"


def _overlap(degree: str, kind: str) -> Config:
    name = overlap_config(degree, kind)
    which = "" if kind == "all" else f", {kind}"
    asked = ("--trodden-pairs=on",) if degree == PAIRS else (f"--trodden-overlap={degree}",)
    flags = (_PATHS, *(() if degree == THIRD else asked))
    label = f"pairs{which}" if degree == PAIRS else f"overlaps, {degree}{which}"
    if kind == "all":
        return _ours(name, label, *flags)
    return trodden_one_kind(kind, name, _LEVEL, *flags, label=label, baseline="clang")


_OVERLAPS = tuple(_overlap(degree, kind) for degree in (*DEGREES, THIRD, PAIRS) for kind in OVERLAP_KINDS)
"""Paths over back edges, calls and returns (TZG04)."""

TRACE_ENCODINGS = ("paths", "witnesses", "bits")
_TRACE = ("--trodden-profile=trace",)
RECORDED = "clang-guards"
"""The rival of traces: clang's trace-pc-guard, with a buffer."""


def trace_config(encoding: str) -> str:
    """The name of the configuration that records a trace in this encoding."""
    return f"trace-{encoding}"


def checked_trace_config(encoding: str) -> str:
    """The name of the one that counts every edge, too."""
    return f"trace-{encoding}-checked"


def _trace(encoding: str) -> Config:
    label, flags = f"trodden trace, {encoding}", (*_TRACE, f"--trodden-trace={encoding}")
    return _ours(trace_config(encoding), label, *flags)


def _checked_trace(encoding: str) -> Config:
    label, flags = f"trodden trace, {encoding}, checked", (*_TRACE, f"--trodden-trace={encoding}")
    return _ours(checked_trace_config(encoding), label, *flags, "--trodden-counters=checked")


_TRACES = (
    *map(_trace, TRACE_ENCODINGS),
    *map(_checked_trace, TRACE_ENCODINGS),
    recording_clang(RECORDED, _LEVEL, label="clang trace-pc-guard", baseline="clang"),
)
"""The whole sequence of blocks."""

_RUST = (
    rustc("rustc", label="rustc"),
    trodden_rustc("rust-off", "--trodden-profile=off", label="trodden, no probes"),
    trodden_rustc("rust-edges", "--trodden-profile=edges", label="trodden edges"),
    trodden_rustc("rust-paths", _PATHS, label="trodden paths"),
    rustc("rust-coverage", "-C", "instrument-coverage", label="-C instrument-coverage"),
    rustc(
        *("rust-generate", "-C", "profile-generate", "-C", "llvm-args=-disable-vp"),
        label="-C profile-generate",
    ),
)

_THIRDS = frozenset(overlap_config(THIRD, kind) for kind in OVERLAP_KINDS)

CONFIGS: Mapping[str, Config] = {
    config.name: config
    for config in (
        *_PROFILERS,
        *_CHECKED,
        *_BY_LINE,
        *_STAGES,
        *_PATH_OPTIONS,
        *_OVERLAPS,
        *_TRACES,
        *_RUST,
    )
}
"""Every configuration by its name; the guided one has no weights yet."""


def config_of(name: str) -> Config:
    """The configuration of this name."""
    if name not in CONFIGS:
        raise BenchError(f"no configuration {name}; there are {', '.join(CONFIGS)}")
    return CONFIGS[name]


def label_of(name: str) -> str:
    """What a configuration is called in the head of a column."""
    return config_of(name).label


def baseline_of(name: str) -> str:
    """The plain build that a configuration is compared with; a plain one is its own baseline."""
    return config_of(name).baseline or name


def guided(program: str, weights: Path) -> Config:
    """The guided configuration with the weights of a program; it is built again when these change.

    Programs that are built together have weights of their own, so each has its own build.
    """
    config = config_of(GUIDED)
    flags = (*config.flags, f"--trodden-weights={weights}")
    return replace(config, name=f"{GUIDED}-{program}", flags=flags, reads=(weights,))


def depends_on_run(name: str) -> str | None:
    """The configuration whose run on *train* decides what a configuration is, if there is one."""
    if name == GUIDED:
        return WEIGHTS_FROM
    return DEGREE_FROM if name in _THIRDS else None


def with_degree(name: str, program: str, degree: int) -> Config:
    """A configuration with the degree of a program; each program has its own build."""
    config = config_of(name)
    return replace(config, name=f"{name}-{program}", flags=(*config.flags, f"--trodden-overlap={degree}"))


def with_baselines(names: Sequence[str]) -> tuple[str, ...]:
    """These configurations and their baselines, the baselines first, each once."""
    baselines = sorted({baseline_of(name) for name in names})
    return tuple(dict.fromkeys([*baselines, *names]))


def compilers(names: Sequence[str], cxx: bool) -> set[str]:
    """The machine's compilers that these configurations need, those of C++ too if there is some."""
    found: set[str] = set()
    for name in names:
        config = config_of(name)
        if config.rustc:
            found.add("rustc")
        elif config.compiler == "gcc":
            found |= {"gcc", "g++"} if cxx else {"gcc"}
        else:
            found.add(CLANG)
    return found
