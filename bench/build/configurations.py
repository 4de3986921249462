"""All ways to build a program, by the names that every table uses: plain, trodden's, and the rivals'.

Everything is built with ``-O2``, file by file, without link-time optimisation.  A way that profiles is
compared with the plain build by the same compiler, its peer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.build.compile import CLANG, Way, clang, gcc, trodden
from bench.support.errors import BenchError

_LEVEL = "-O2"
_PATHS = "--trodden-profile=paths"
# Without -disable-vp clang also counts what values are, which no other profile here does.
_EDGES_ONLY = ("-fprofile-generate", "-mllvm", "-disable-vp")
_ATOMIC = "-fprofile-update=atomic"

GUIDED = "paths-guided"
"""Paths with weights: what the way "paths" has counted on *train* says where probes are cheap."""

WEIGHED = "paths"
"""The way whose profile the guided one learns from."""


@dataclass(frozen=True)
class KnownWay:
    """A way, its peer, and what it is called in the head of a column."""

    way: Way
    peer: str
    shown: str


def _plain(way: Way, shown: str) -> KnownWay:
    return KnownWay(way, way.name, shown)


def _by_clang(name: str, shown: str, *flags: str) -> KnownWay:
    return KnownWay(clang(name, _LEVEL, *flags), "clang", shown)


def _by_gcc(name: str, shown: str, *flags: str) -> KnownWay:
    return KnownWay(gcc(name, _LEVEL, *flags), "gcc", shown)


def _ours(name: str, shown: str, *flags: str) -> KnownWay:
    return KnownWay(trodden(name, _LEVEL, *flags), "clang", shown)


_KNOWN: tuple[KnownWay, ...] = (
    _plain(clang("clang", _LEVEL), "clang"),
    _plain(gcc("gcc", _LEVEL), "gcc"),
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

WAYS: Mapping[str, KnownWay] = {known.way.name: known for known in _KNOWN}
"""Every way by its name; the guided one has no weights yet."""


def known(name: str) -> KnownWay:
    """The way of this name."""
    if name not in WAYS:
        raise BenchError(f"no way {name} to build; there are {', '.join(WAYS)}")
    return WAYS[name]


def peer(name: str) -> str:
    """The plain build by the same compiler that a way is compared with; a plain one is its own."""
    return known(name).peer


def guided(program: str, weights: Path) -> Way:
    """The guided way with the weights of a program; it is built anew when they have changed.

    Programs that are made together have weights of their own, so that each has a build of its own.
    """
    way = known(GUIDED).way
    flags = (*way.flags, f"--trodden-weights={weights}")
    return replace(way, name=f"{GUIDED}-{program}", flags=flags, reads=(weights,))


def with_peers(names: Sequence[str]) -> tuple[str, ...]:
    """These ways and the plain builds that they are compared with, the plain ones first, each once."""
    plain = sorted({peer(name) for name in names})
    return tuple(dict.fromkeys([*plain, *names]))


def compilers(names: Sequence[str], cxx: bool) -> set[str]:
    """The compilers of the machine that builds in these ways need, those of C++ too if there is some."""
    gnu = {"gcc", "g++"} if cxx else {"gcc"}
    return set().union(*(gnu if peer(name) == "gcc" else {CLANG} for name in names))
