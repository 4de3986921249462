"""The options of instrumentation, each declared once.

A field of :class:`Options` is an option: its name and default are the field's, everything else is in the
declaration beside it.  Command lines, the environment, the library's keywords, usage lines and the tables of
the manual follow from these declarations.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from trodden.native.options.option import BUILDS, COMPILERS, declared, options_of
from trodden.native.options.values import (
    Choice,
    Limit,
    Number,
    NumberOrWord,
    Patterns,
    Switch,
    SwitchOrNumber,
    Text,
)
from trodden.plan.paths.limits import DEFAULT_LIMIT

if TYPE_CHECKING:
    from trodden.graph.cfg import Graph

ProfileKind = Literal["edges", "blocks", "paths", "trace", "off"]
CounterScheme = Literal[
    "edges", "blocks-by-edges", "blocks-by-blocks", "every-block", "every-edge", "checked"
]
Stage = Literal["late", "early"]
Metric = Literal["cycles", "none"]
Encoding = Literal["paths", "witnesses", "bits"]
CuttingRule = Literal["cheapest", "loops", "node"]

COUNTER_SCHEMES: tuple[CounterScheme, ...] = get_args(CounterScheme)
ESTIMATE, NESTING = "estimate", "nesting"
MAX, AUTO = "max", "auto"
MAX_LAST = 1 << 16
MAX_DEGREE = 1 << 16
MAX_TUPLE = 16
Weights = Callable[["Graph", str], list[float] | None]
"""The weights of a function's edges by its graph and symbol; ``None`` where nothing was measured."""

_SHOW = frozenset({"show"})


@dataclass(frozen=True)
class Options:
    """The choices for one build.

    ``measured`` is what the profile that ``weights`` names has measured.  Reading it is not a matter of
    instrumentation, so whoever builds has to fill it in (:mod:`trodden.api.weights`).
    """

    profile: ProfileKind = declared(
        "edges",
        Choice(get_args(ProfileKind), "KIND"),
        takers=BUILDS | _SHOW,
        narrowed={"show": ("edges", "blocks", "paths")},
        help="what to count",
        summary="`edges` (default), `blocks`, `paths`, `trace`, or `off`",
        reference="""
        `edges`, `blocks` | short for `counters`: `blocks` means `blocks-by-edges`. `counters` overrides it.
            The default is `edges`
        `paths` | counts paths, and with them edges and blocks. `counters` may be `checked` as well, which
            adds a counter on every edge; `stage` must be `late`
        `trace` | counts nothing, but records what every thread executes: the sequence of its blocks follows
            from it. `counters` may be `checked`, which adds a counter on every edge; `stage` must be `late`
        `off` | instruments no function
        """,
    )
    trace: Encoding = declared(
        "paths",
        Choice(get_args(Encoding), "ENCODING"),
        help="with profile trace: what is recorded of the way that control takes",
        summary="with `trace`: what is recorded, `paths` (default), `witnesses` or `bits`; the sequence of"
        " blocks follows from each of them",
        reference="""
        `paths` | with traces: a record for each path between loops and calls, its number as in a path
            profile (the default)
        `witnesses` | with traces: a record on few edges, from which the others follow (BL94 §4)
        `bits` | with traces: the direction of every branch, as bits (BL94 §6.2)
        """,
    )
    max_paths: int | None = declared(
        DEFAULT_LIMIT,
        Limit("a number of paths per function, or none to cut nothing"),
        takers=BUILDS | _SHOW,
        path_profile=True,
        help="the most paths that a function may have before some are cut; none: cut nothing",
        summary="the number of paths that a function may have before some are cut in two: {default}"
        " (default), another number, or `none` to keep all of them whole",
        reference="""
        a number, `none` | with path profiles: the most paths that a function may have; where there are more,
            paths are cut at some edges (default {default}). The limit is exceeded where even cutting every
            edge leaves more. `none` cuts nothing; functions with more than 262,144 paths then count in a
            sparse table of the paths that were executed, which takes a call for each
        """,
    )
    context: bool = declared(
        False,
        Switch(),
        takers=BUILDS | _SHOW,
        path_profile=True,
        help="count a path through a loop together with the path that led to the loop",
        summary="counts a path through a loop together with the path that led to the loop",
        reference="""
        `on`, `off` | with path profiles: count a path through a loop together with the path that led to the
            loop (default {default})
        """,
    )
    overlap: int | str = declared(
        0,
        NumberOrWord("K|max|auto", f"a degree up to {MAX_DEGREE}, max or auto", (MAX, AUTO), 0, MAX_DEGREE),
        path_profile=True,
        help="also count the start of the next iteration with each path that ends one",
        summary="counts each path that ends an iteration together with the start of the next one, up to its"
        " K-th decision (or as far as it goes, `max`; `auto` chooses for each loop), from which bounds follow"
        " for paths of two iterations",
        reference="""
        a number, `max`, `auto` | with path profiles: count a path that ends on a back edge together with the
            start of the next path, which ends at its (K + 1)th predicate; `max` follows it to its end, `auto`
            chooses a degree for each loop within a budget, and 0 extends nothing (default {default}). Paths
            are counted as without it; what more is known: [tzg04.md](tzg04.md)
        """,
    )
    pairs: int = declared(
        0,
        SwitchOrNumber(f"on, off, or a number of paths from 2 to {MAX_TUPLE}", MAX_TUPLE),
        path_profile=True,
        help="also count pairs of paths that follow each other in a loop, or tuples of N",
        summary="also counts pairs of paths, of two iterations of a loop that follow each other; or tuples of"
        " N paths",
        reference="""
        `on`, `off`, a number up to 16 | with path profiles: also count every two paths of which one ended on
            a back edge and the other followed it, exactly; with a number, tuples of up to so many
            (default `off`). Where few tuples are possible they have counters, otherwise each takes a call.
            Tuples are shorter in functions with so many paths that their numbers do not fit a word
        """,
    )
    last: int = declared(
        0,
        Number(f"a number of paths per thread, {MAX_LAST} at most, or 0 to keep none", 0, MAX_LAST),
        path_profile=True,
        help="also keep the last N paths of each thread, one by one",
        summary="with paths: also keeps the last paths of each thread, one by one, up to this number; they"
        " are kept however the program ends, after a crash or `SIGKILL` too",
        reference="""
        a number up to 65536 | with path profiles: keep the last paths that each thread has completed, up to
            this number, in their order and across functions (default {default}: none, and no code for it).
            They are kept however the process ends, after crashes and `SIGKILL` too. Which paths are recorded,
            and of which threads: [bl96.md](bl96.md#the-last-paths-mr98-1)
        """,
    )
    metric: Metric = declared(
        "none",
        Choice(get_args(Metric), "METRIC"),
        path_profile=True,
        help="also add up the time spent on each path",
        summary="`cycles`: the time spent on each path, beside its count",
        reference="""
        `cycles`, `none` | with path profiles, `cycles`: add up the time spent on each path, calls included,
            in ticks of the processor's time stamp counter (default `none`)
        """,
    )
    cut_by: CuttingRule = declared(
        "cheapest",
        Choice(get_args(CuttingRule), "RULE"),
        takers=BUILDS | _SHOW,
        path_profile=True,
        help="the rule that chooses where paths are cut",
        summary="the rule that chooses the cuts: `cheapest` (default), at edges that are seldom executed;"
        " `loops`, also at loop entries, which may be cheaper; `node`, the paper's rule",
        reference="""
        `cheapest`, `loops`, `node` | with path profiles: the rule that chooses the edges to cut. `cheapest`
            (the default) cuts where control is seldom expected, by `weights` if they are given; `loops` also
            ends paths at every loop entry, however few there are, which may make profiling cheaper
            ([benchmarks.md](benchmarks.md#options-of-path-profiles)) and loses which path led to the first
            iteration of a loop; `node` is the rule of BL96, which cuts all edges that leave a block with too
            many paths below it
        """,
    )
    call_paths: bool = declared(
        False,
        Switch(),
        help="also count the call paths that led to each function",
        summary="also counts the call paths that led to each function (`main → parse → next`), with any"
        " profile",
        reference="""
        `on`, `off` | with any profile: also count the call paths that led to each function (default
            {default}). Only at the late stage: calls are those of the optimised program, so an inlined
            function is part of its caller. See [exactness.md](exactness.md#call-paths)
        """,
    )
    durable: bool = declared(
        False,
        Switch(),
        help="hold no count in a register until a loop ends, so that SIGKILL loses none",
        summary="holds no count in a register until a loop ends, so that `SIGKILL` finds all of them in"
        " memory; loops cost a little more",
        reference="""
        `on`, `off` | hold no count in a register until a loop ends (default {default}): loops do not count
            their iterations at the loop exit, and at the early stage the optimiser keeps no counter in a
            register. So SIGKILL finds every count in memory
        """,
    )
    counters: CounterScheme | None = declared(
        None,
        Choice[CounterScheme | None](COUNTER_SCHEMES, "SCHEME"),
        takers=BUILDS | _SHOW,
        narrowed={"show": ("edges", "blocks-by-edges", "blocks-by-blocks", "every-block")},
        help="how counters are placed, if not as the kind of profile has it",
        summary="`edges` (default); `blocks-by-edges`, `blocks-by-blocks`: block counts only; `every-block`,"
        " `every-edge`: redundant, for comparison; `checked`: spanning tree and every edge in the same run,"
        " compared",
        reference="""
        `edges` | an edge profile from the fewest counters (the default)
        `blocks-by-edges`, `blocks-by-blocks` | a block profile from few edge counters, or from the fewest
            block counters
        `every-block`, `every-edge` | a counter everywhere, for comparison
        `checked` | the fewest counters and one on every edge in the same run; differences are reported as
            contradictions
        """,
    )
    stage: Stage = declared(
        "late",
        Choice(get_args(Stage), "STAGE"),
        takers=BUILDS | {"estimate"},
        help="the program after optimisation, as it runs, or before, as it was written",
        summary="`late` (default): probes go into the optimised program, the one that really runs. `early`:"
        " before optimisation, so that every source line keeps its own count at any `-O` (not with paths)",
        reference="""
        `late` | probes go into the optimised program (the default)
        `early` | probes go in before optimisation: counts belong to the source as it was written
        """,
    )
    weights: str = declared(
        NESTING,
        Text("FILE.trod", (ESTIMATE, NESTING)),
        takers=BUILDS | _SHOW,
        help="weigh edges by a profile (FILE.trod), an estimate (estimate) or the nesting of loops (nesting)",
        summary="a profile from an earlier run: counters go where that run was coldest; `estimate`: where"
        " control is not expected; `nesting` (default): where loops are nested least",
        reference="""
        a `.trod` file | counters go where that run was coldest, or where that [estimate](#trodden-estimate)
            expects control least. It applies to each function whose symbol and graph are the same there;
            others are weighed by `nesting`
        `estimate` | counters go where control is not expected, as `trodden estimate` would estimate each
            function by itself
        `nesting` | counters go where loops are nested least: the heuristic of BL94 §5, which is the default
            (`./nesting` is a file of that name)
        """,
    )
    only: tuple[str, ...] = declared(
        (),
        Patterns(),
        repeats=True,
        help="instrument only these functions or files (may be repeated)",
        summary="globs: instrument only these functions and files",
        reference="""
        globs | instrument only these functions. A glob is matched with the symbol, the demangled name and the
            full path of the source file. Commas separate several
        """,
    )
    leave: tuple[str, ...] = declared(
        (),
        Patterns(),
        repeats=True,
        help="leave these functions or files as they are (may be repeated)",
        summary="globs: leave these functions and files as they are",
        reference="""
        globs | leave these functions as they are, even if `only` names them
        """,
    )
    toolchain: str = declared(
        "embedded",
        Text("PATH", ("embedded", "clang"), command=True),
        takers=BUILDS | {"estimate"},
        help="the compiler underneath: embedded, clang, or the path of a clang",
        summary="`embedded` (default: clang 22 as ziglang carries it), `clang`, or the path of a clang",
        reference="""
        `embedded`, `clang`, a path | the compiler underneath. `embedded` (the default) is clang 22 of the
            package ziglang. Another clang may be version 22 or older; if it is older, the embedded one
            generates code
        """,
    )
    trip_counts: bool = declared(
        True,
        Switch(),
        takers=COMPILERS,
        former="trips",
        help="count the iterations of a loop at its exit where possible",
        reference="""
        `on`, `off` | count the iterations of a loop at its exit, where they follow from an induction variable
            (default {default}; off with `durable`)
        """,
    )
    call_sites: bool = declared(
        True,
        Switch(),
        takers=COMPILERS,
        former="sites",
        help="label call sites, so that calls that never return are accounted for",
        reference="""
        `on`, `off` | label call sites, so that calls that never return are accounted for (default {default}).
            Without the labels, counts are off where a program ends inside calls
        """,
    )
    debug_locations: bool = declared(
        True,
        Switch(),
        takers=COMPILERS,
        former="positions",
        help="write debug information that locates interrupted frames",
        reference="""
        `on`, `off` | write debug information that gives the block and the value of the path register at every
            instruction, so that frames which a signal interrupted between calls are accounted for (default
            {default}, at the late stage and with `call-sites`). It makes files larger and adds no instruction
        """,
    )
    clone_blocks: bool = declared(
        True,
        Switch(),
        takers=COMPILERS,
        path_profile=True,
        former="copies",
        help="clone hot blocks, so that the path register is known in each clone",
        reference="""
        `on`, `off` | with path profiles: clone blocks that are expected to be hot, one clone for each value
            of the path register, so that no register has to carry it there (default {default}; a function
            grows by half at most, a small one by up to 60 instructions)
        """,
    )
    branch_weights: bool = declared(
        True,
        Switch(),
        takers=COMPILERS,
        former="odds",
        help="pass measured branch weights on to the code generator",
        reference="""
        `on`, `off` | with `weights` from a profile: pass the measured branch weights on to the code generator
            (default {default})
        """,
    )
    measured: Weights | None = field(default=None, compare=False)

    @property
    def paths(self) -> bool:
        """Whether paths are counted."""
        return self.profile == "paths"

    @property
    def over_calls(self) -> bool:
        """Whether paths are counted over calls and returns."""
        return self.paths and (bool(self.overlap) or self.pairs > 0)

    @property
    def traces(self) -> bool:
        """Whether the execution is recorded."""
        return self.profile == "trace"

    @property
    def scheme(self) -> CounterScheme:
        """How counters are placed: as named, or as the kind of profile has it."""
        return self.counters or ("blocks-by-edges" if self.profile == "blocks" else "edges")

    @property
    def loop_exit_counts(self) -> bool:
        """Whether iterations of loops may be counted at loop exits."""
        return self.trip_counts and not self.durable

    def wants(self, symbol: str, shown: str, file: str) -> bool:
        """Whether to instrument a function, by symbol, name (with parameters or without) or source file."""
        names = (symbol, shown, shown.partition("(")[0], file, os.path.basename(file))

        def any_match(patterns: Sequence[str]) -> bool:
            return any(text == p or fnmatch.fnmatchcase(text, p) for p in patterns for text in names)

        if self.profile == "off":
            return False
        return (not self.only or any_match(self.only)) and not any_match(self.leave)


OPTIONS = options_of(Options)
"""All options by name, in the order of the manual."""
