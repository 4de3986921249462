"""What the functions of one unit have in common when they are lowered."""

from __future__ import annotations

from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.native.analysis.module_reader import ModuleReader
from trodden.native.ir.module_properties import is_position_independent_library
from trodden.native.ir.strip_debug import strip_definition
from trodden.native.lower.branch_weights import BranchWeights
from trodden.native.lower.call_layout import CallLayout
from trodden.native.lower.call_site_labels import CallSites, NoLabels, SiteLabels, TaggedSites
from trodden.native.lower.counter_access import (
    Addressing,
    CounterAccess,
    LoadAddStore,
    PerThreadTable,
    SingleInstruction,
    ThreadLocalCounters,
)
from trodden.native.lower.debug_locations import FunctionDebug, NoDebug, UnitDebug
from trodden.native.lower.personalities import Personalities


@dataclass(frozen=True)
class UnitLowering:
    """How the functions of a unit are lowered.

    ``debug`` adds debug records, if there are to be any; ``keeps_debug``: the program's own debug information
    stays in the module.  ``durable``: no counter may be in a register, not even before the optimiser runs.
    ``last_paths`` is how many last paths of each thread are kept.  ``traced``: what is executed is recorded;
    it is the metadata node of the weights of a branch that is hardly ever taken.  ``calls``: paths are
    counted over calls.
    """

    machine: str
    tag: int
    addressing: Addressing
    durable: bool
    call_paths: bool
    last_paths: int
    sites: CallSites | None
    debug: UnitDebug | None
    keeps_debug: bool
    branch_weights: BranchWeights | None
    personalities: Personalities | None
    traced: int | None = None
    calls: CallLayout | None = None

    @staticmethod
    def of(reader: ModuleReader, tag: int, keep_debug: bool, calls: CallLayout | None = None) -> UnitLowering:
        """The lowering of a module with the options that it is read with.

        ``calls`` is the layout of what is counted if paths extend over calls.
        """
        options, debug, machine = reader.options, reader.debug, reader.machine
        early = options.stage == "early"
        sites: CallSites | None = None
        if options.call_sites:
            sites = TaggedSites(tag, debug=debug) if early else CallSites(tag)
        records = options.debug_locations and options.call_sites and not early and machine == "x86_64"
        shared = is_position_independent_library(reader.module.epilogue)
        return UnitLowering(
            machine=machine,
            tag=tag,
            addressing=PerThreadTable() if shared else ThreadLocalCounters(),
            durable=options.durable and early,
            call_paths=options.call_paths,
            last_paths=options.last if options.paths else 0,
            sites=sites,
            debug=UnitDebug(tag, debug, keep_debug) if records else None,
            keeps_debug=keep_debug or (sites is not None and sites.needs_debug),
            branch_weights=BranchWeights(debug.fresh) if options.branch_weights else None,
            personalities=None if sites is None or early else Personalities(reader.attributes),
            traced=debug.fresh() if options.traces else None,
            calls=calls,
        )

    @property
    def last_paths_tag(self) -> int | None:
        """The tag by which the ring of last paths names the unit; None if none are kept."""
        return self.tag if self.last_paths else None

    def access(self, optnone: bool) -> CounterAccess:
        """How a function uses its counters."""
        single = optnone or self.durable
        return CounterAccess(self.addressing, SingleInstruction(self.machine) if single else LoadAddStore())

    def function_debug(
        self, header: str, graph: Graph, number: int, line: int, optnone: bool
    ) -> FunctionDebug:
        """The debug information of a function."""
        if self.debug is None:
            return NoDebug(self.keeps_debug)
        return self.debug.function(header, graph, number, line, optnone)

    def labels(self, function: int, group: str | None, call_location: str | None) -> SiteLabels:
        """What labels the calls of a function."""
        return NoLabels() if self.sites is None else self.sites.labels(function, group, call_location)

    def with_personality(self, header: str) -> str:
        """The ``define`` line of a function with the personality that it is to have."""
        return header if self.personalities is None else self.personalities.give(header)

    def untouched(self, definition: str) -> str:
        """A function without probes."""
        return definition if self.keeps_debug else strip_definition(definition)

    @property
    def call_sites(self) -> tuple[tuple[int, int], ...]:
        """The call sites of the functions that have been lowered."""
        return () if self.sites is None else tuple(self.sites.known)
