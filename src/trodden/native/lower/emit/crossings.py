"""Emit the code of probes for paths that extend over calls and returns (TZG04 §3.3, Figure 4).

What caller and callee tell each other is in a thread-local variable, the *channel*; what is counted is in
rows of counters (``trodden.h``).  The row of an overlap that has begun is in the frame of its function, with
the register of the overlap: both live across calls, so that machine registers for them would be saved and
restored anyway.  Where a row has a single counter, it is counted at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.lower.builder import Builder
from trodden.native.lower.call_layout import HEAD, WAYS, CellIndex, FunctionLayout, SiteLayout
from trodden.native.lower.call_names import Called, CallNames, called_by
from trodden.native.lower.counter_access import CounterAccess
from trodden.native.lower.emit.channel import (
    ADDRESS,
    ASK_CALLED,
    ASK_PREFIX,
    ASK_RETURNED,
    ASK_TARGET,
    ASKED,
    COUNT_CROSSING,
    FUNCTION_BYTES,
    FUNCTIONS,
    RECORDS,
    RETURNED,
    ROW,
    SITE_BYTES,
    SITES,
    TARGETS,
    TOKEN,
    WORDS,
    channel_field,
)
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import Insertion, Point, Where
from trodden.native.lower.runtime_symbols import CHANNEL
from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    Channel,
    ClearOverlap,
    CountPredicate,
    PairOverlap,
    PairOverlapAt,
    PublishCall,
    PublishCallAt,
    PublishReturn,
    PublishReturnAt,
    TakeCall,
    TakeReturn,
)
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.paths.path_register import Value
from trodden.plan.probes import Plan, Probe

_NAMES = {Channel.ENTERED: "trodden.entered", Channel.RETURNED: "trodden.returned"}
_ROW, _REGISTER, _PASSED = range(0, 24, 8)
"""Where in the frame's record of a channel its parts are: the row, and the overlap."""
_WORD_OF, _PATHS, _FIRST_ROW = 8, 16, 24
"""Where in the record of a call site its parts are."""
_MOSTLY = '!prof !{!"branch_weights", i32 2000, i32 1}'
_SAME_FUNCTION = 1 << 32
_MOST_SLOTS = 1 << 31
_MOST_PATHS = 1 << 32
_ALIGNED = 4
"""So many bits of the address of a function tell nothing."""

_ON_CHANNELS = (AddOverlap, BumpOverlap, ClearOverlap, CountPredicate, PairOverlap, PairOverlapAt)
_EXCHANGED = (PublishCall, PublishCallAt, TakeCall, PublishReturn, PublishReturnAt, TakeReturn)


def is_of_calls(probe: Probe) -> bool:
    """Whether a probe is for paths over calls and returns."""
    if isinstance(probe, _ON_CHANNELS):
        return probe.channel in _NAMES
    return isinstance(probe, _EXCHANGED)


def reads_register(probe: Probe, value: Value | None) -> Value | None:
    """The path register plus a constant, as such a probe uses it; None if it does not."""
    if isinstance(probe, PublishCall | PublishReturn | PairOverlap):
        assert value is not None, "a path is told whose register was never set"
        return value.plus(probe.add)
    return None


@dataclass(frozen=True)
class CrossingEmitter:
    """Emits the code of these probes in one function; predicates are ``counting`` for some channels only."""

    read: FunctionCfg
    layout: FunctionLayout
    names: CallNames
    counting: frozenset[Channel]

    @staticmethod
    def of(
        read: FunctionCfg, plan: Plan, layout: FunctionLayout | None, names: CallNames | None
    ) -> CrossingEmitter | None:
        """The emitter for a plan that counts such paths."""
        if plan.calls is None or layout is None or names is None:
            return None
        probes = (probe for each in plan.on_edges.values() for probe in each)
        counting = frozenset(each.channel for each in probes if isinstance(each, CountPredicate))
        return CrossingEmitter(read, layout, names, counting)

    @property
    def variables(self) -> list[str]:
        """The frame's records."""
        return [f"  %{name} = alloca [3 x i64], align 8" for name in _NAMES.values()]

    def emit(
        self, builder: Builder, access: CounterAccess, probe: Probe, mark: Mark | None, number: str
    ) -> None:
        """One probe, at the edge or block of its mark; ``number`` is the path that it reads."""
        builder.location = None
        block = self._block_of(mark)
        match probe:
            case PublishCall(site, _):
                self._publish_call(builder, self.layout.sites[site], block, number)
            case PublishCallAt(site, prefix):
                self._publish_call(builder, self.layout.sites[site], block, str(signed_word(prefix)))
            case TakeCall(start):
                self._take_call(builder, access, start)
            case PublishReturn():
                self._publish_return(builder, number)
            case PublishReturnAt(path):
                self._publish_return(builder, str(signed_word(path)))
            case TakeReturn(site, start):
                self._take_return(builder, access, self.layout.sites[site], block, start)
            case ClearOverlap(channel):
                if self._is_kept(channel):
                    _store(builder, channel, _ROW, "0")
            case PairOverlap(channel, _):
                self._count(builder, access, channel, number)
            case PairOverlapAt(channel, path):
                self._count(builder, access, channel, str(signed_word(path)))
            case CountPredicate(channel) | AddOverlap(channel) | BumpOverlap(channel) if self._is_kept(
                channel
            ):
                self._on_overlap(builder, access, channel, probe)

    def _is_kept(self, channel: Channel) -> bool:
        """Whether what has begun is in the frame until it ends."""
        if channel is Channel.ENTERED:
            return not self.layout.at_once
        return not all(site.at_once for site in self.layout.sites.values())

    def _block_of(self, mark: Mark | None) -> int:
        """The block that a probe is at the end of: that of the call, if it is about one."""
        if mark is None or mark.holder is not Holder.EDGE:
            return 0 if mark is None else mark.index
        return self.read.graph.edges[mark.index].src

    @property
    def _name(self) -> str:
        """The function, as it is printed."""
        return f"@{FunctionHeader(self.read.ir.header).name}"

    # Calls.

    def _publish_call(self, builder: Builder, site: SiteLayout, block: int, prefix: str) -> None:
        record = self._record(builder, site, block, called_by(self.read, block))
        if site.index is None:
            _tell(builder, ASKED, prefix)
            published = builder.value(f"call preserve_mostcc i64 {ASK_PREFIX}(ptr nest {record})")
        else:
            cell = _cell(builder, record, site.index, prefix)
            published = builder.value(f"load i64, ptr {cell}, align 8")
        _tell(builder, ROW, published)

    def _record(self, builder: Builder, site: SiteLayout, block: int, called: Called) -> str:
        """The record of a call site; of an indirect call, that for the address."""
        if not site.indirect:
            return _direct(site)
        address = builder.value(f"ptrtoint ptr {called.operand} to i64")
        last = builder.value(f"lshr i64 {address}, {_ALIGNED}")
        last = builder.value(f"and i64 {last}, {WAYS - 1}")
        first = f"getelementptr (i8, ptr {TARGETS}, i64 {8 * site.at})"
        at = builder.value(f"getelementptr ptr, ptr {first}, i64 {last}")
        known = builder.value(f"load ptr, ptr {at}, align 8")
        target = builder.value(f"load i64, ptr {known}, align 8")
        same = builder.value(f"icmp eq i64 {target}, {address}")
        here, other, done = builder.reserve(), builder.reserve(), builder.reserve()
        builder.emit(f"br label %{here}")
        builder.label(here)
        builder.emit(f"br i1 {same}, label %{done}, label %{other}, {_MOSTLY}")
        builder.label(other)
        _tell(builder, ASKED, address)
        described = f"getelementptr (i8, ptr {SITES}, i64 {SITE_BYTES * site.number})"
        found = builder.value(f"call preserve_mostcc ptr {ASK_TARGET}(ptr nest {described})")
        builder.emit(f"store ptr {found}, ptr {at}, align 8")
        builder.emit(f"br label %{done}")
        builder.label(done)
        return builder.define(_record_of(block), f"phi ptr [ {known}, %{here} ], [ {found}, %{other} ]")

    def _take_call(self, builder: Builder, access: CounterAccess, start: int | None) -> None:
        """Whoever asks for the row takes what was published."""
        published = builder.value(f"load i64, ptr {channel_field(ROW)}, align 8")
        word = builder.value(f"load i64, ptr {self._word}, align 8")
        slot = builder.value(f"sub i64 {published}, {word}")
        known = builder.value(f"icmp ult i64 {slot}, {_MOST_SLOTS}")
        here, other, asks, done = (builder.reserve() for _ in range(4))
        _tell(builder, ROW, "0")
        builder.emit(f"br label %{here}")
        builder.label(here)
        builder.emit(f"br i1 {known}, label %{done}, label %{other}, {_MOSTLY}")
        builder.label(other)
        nothing = builder.value(f"icmp eq i64 {published}, 0")
        builder.emit(f"br i1 {nothing}, label %{done}, label %{asks}")
        builder.label(asks)
        own, token = self._own(builder)
        _tell(builder, ASKED, published)
        _tell(builder, ADDRESS, own)
        _tell(builder, TOKEN, token)
        described = f"getelementptr (i8, ptr {FUNCTIONS}, i64 {FUNCTION_BYTES * self.layout.number})"
        found = builder.value(f"call preserve_mostcc i64 {ASK_CALLED}(ptr nest {described})")
        builder.emit(f"br label %{done}")
        builder.label(done)
        row = builder.value(f"phi i64 [ {slot}, %{here} ], [ 0, %{other} ], [ {found}, %{asks} ]")
        self._begin(builder, access, Channel.ENTERED, row, self.layout.at_once, start)

    def _own(self, builder: Builder) -> tuple[str, str]:
        """The address and the token of the function, 0 where nobody can know it."""
        symbol, name = self.read.ir.symbol, self._name
        token, own = str(signed_word(self.names.token(symbol))), "0"
        certain = self.names.own_names.get(name)
        if certain is not None:
            same = builder.value(f"icmp eq ptr {name}, {certain}")
            token = builder.value(f"select i1 {same}, i64 {token}, i64 0")
        if symbol not in self.names.unaddressed:
            own = builder.value(f"ptrtoint ptr {certain or name} to i64")
        return own, token

    @property
    def _word(self) -> str:
        number = self.layout.number
        return f"getelementptr (i8, ptr {WORDS}, i64 {8 * number})" if number else WORDS

    # Returns.

    def _publish_return(self, builder: Builder, path: str) -> None:
        """A path with a number that has no room beside the function's is not told."""
        told = "0"
        if self.layout.paths <= _MOST_PATHS:
            told = builder.value(f"load i64, ptr {self._word}, align 8")
            told = told if path == "0" else builder.value(f"add i64 {told}, {path}")
        _tell(builder, RETURNED, told)

    def _take_return(
        self, builder: Builder, access: CounterAccess, site: SiteLayout, block: int, start: int | None
    ) -> None:
        record = f"%{_record_of(block)}" if site.indirect else _direct(site)
        told = builder.value(f"load i64, ptr {channel_field(RETURNED)}, align 8")
        path = builder.value(f"sub i64 {told}, {_part(builder, record, _WORD_OF)}")
        here, asks, same, done = (builder.reserve() for _ in range(4))
        builder.emit(f"br label %{here}")
        builder.label(here)
        first = row = ""
        if site.parts:
            known = builder.value(f"icmp ult i64 {path}, {_part(builder, record, _PATHS)}")
            block_at, other = builder.reserve(), builder.reserve()
            builder.emit(f"br i1 {known}, label %{block_at}, label %{other}, {_MOSTLY}")
            builder.label(block_at)
            offset = builder.value(f"mul i64 {path}, {site.parts}")
            row = builder.value(f"add i64 {offset}, {_part(builder, record, _FIRST_ROW)}")
            first = f"[ {row}, %{block_at} ], "
            builder.emit(f"br label %{done}")
            builder.label(other)
            here = other
        own = builder.value(f"icmp ult i64 {path}, {_SAME_FUNCTION}")
        builder.emit(f"br i1 {own}, label %{asks}, label %{same}")
        builder.label(asks)
        _tell(builder, ASKED, path)
        found = builder.value(f"call preserve_mostcc i64 {ASK_RETURNED}(ptr nest {record})")
        builder.emit(f"br label %{done}")
        builder.label(same)
        builder.emit(f"br label %{done}")
        builder.label(done)
        row = builder.value(f"phi i64 {first}[ {found}, %{asks} ], [ 0, %{same} ]")
        self._begin(builder, access, Channel.RETURNED, row, site.at_once, start)

    # Overlaps.

    def _begin(
        self,
        builder: Builder,
        access: CounterAccess,
        channel: Channel,
        row: str,
        at_once: bool,
        start: int | None,
    ) -> None:
        """What was taken begins; a row with one counter needs no more."""
        if at_once:
            access.increment_at(builder, access.element(builder, 0, row), "1")
            if self._is_kept(channel):
                _store(builder, channel, _ROW, "0")
            return
        _store(builder, channel, _ROW, row)
        if start is not None:
            _store(builder, channel, _REGISTER, str(signed_word(start)))
            if channel in self.counting:
                _store(builder, channel, _PASSED, "0")

    def _on_overlap(
        self,
        builder: Builder,
        access: CounterAccess,
        channel: Channel,
        probe: CountPredicate | AddOverlap | BumpOverlap,
    ) -> None:
        match probe:
            case CountPredicate():
                passed = _load(builder, channel, _PASSED)
                _store(builder, channel, _PASSED, builder.value(f"add i64 {passed}, 1"))
            case AddOverlap(_, value, limit):
                amount = str(signed_word(value))
                if limit is not None:
                    passed = _load(builder, channel, _PASSED)
                    on = builder.value(f"icmp ule i64 {passed}, {limit}")
                    amount = builder.value(f"select i1 {on}, i64 {amount}, i64 0")
                register = _load(builder, channel, _REGISTER)
                _store(builder, channel, _REGISTER, builder.value(f"add i64 {register}, {amount}"))
            case BumpOverlap():
                self._count(builder, access, channel, "")

    def _count(self, builder: Builder, access: CounterAccess, channel: Channel, part: str) -> None:
        """What has begun, if anything has, ends; its part here is ``part``, or what the register holds.

        Of the sites of a function either all rows behind calls have counters, or none.  Where nothing has
        begun, a path is counted in the row of nothing; the register may then hold any number.
        """
        if not self._is_kept(channel):
            return
        row = _load(builder, channel, _ROW)
        if part and self._has_counters(channel):
            self._add_to(builder, access, row, part)
            _store(builder, channel, _ROW, "0")
            return
        active = builder.value(f"icmp ne i64 {row}, 0")
        counts, done = builder.reserve(), builder.reserve()
        builder.emit(f"br i1 {active}, label %{counts}, label %{done}")
        builder.label(counts)
        _store(builder, channel, _ROW, "0")
        part = part or _load(builder, channel, _REGISTER)
        if self._has_counters(channel):
            self._add_to(builder, access, row, part)
        else:
            where = builder.value(f"call ptr @llvm.threadlocal.address.p0(ptr {CHANNEL})")
            builder.emit(f"call preserve_mostcc void {COUNT_CROSSING}(ptr {where}, i64 {row}, i64 {part})")
        builder.emit(f"br label %{done}")
        builder.label(done)

    @staticmethod
    def _add_to(builder: Builder, access: CounterAccess, row: str, part: str) -> None:
        slot = row if part == "0" else builder.value(f"add i64 {row}, {part}")
        access.increment_at(builder, access.element(builder, 0, slot), "1")

    def _has_counters(self, channel: Channel) -> bool:
        if channel is Channel.ENTERED:
            return self.layout.parts > 0
        return all(site.parts for site in self.layout.sites.values())


def emit_removal(lowering: FunctionLowering) -> Insertion:
    """A function that counts nothing over calls removes what it was told, so that nobody else asks for it."""
    builder = lowering.builder()
    _tell(builder, ROW, "0")
    return lowering.insert(Point(Where.ENTRY, 0), builder.lines)


def signed_word(number: int) -> int:
    """A number of 64 bits as IR writes it."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def _record_of(block: int) -> str:
    """The name of the record for the address that the call at the end of a block calls."""
    return f"trodden.record.{block}"


def _direct(site: SiteLayout) -> str:
    return f"getelementptr (i8, ptr {RECORDS}, i64 {8 * site.at})" if site.at else RECORDS


def _part(builder: Builder, record: str, offset: int) -> str:
    if record.startswith("%"):
        return builder.value(
            f"load i64, ptr {builder.value(f'getelementptr i8, ptr {record}, i64 {offset}')}, align 8"
        )
    return builder.value(f"load i64, ptr getelementptr (i8, ptr {record}, i64 {offset}), align 8")


def _cell(builder: Builder, record: str, index: CellIndex, prefix: str) -> str:
    """The address of the cell for a prefix."""
    if index.single or prefix.lstrip("-").isdecimal():
        offset = 8 * (HEAD + index.of(int(prefix) if not index.single else 0))
        return builder.value(f"getelementptr i8, ptr {record}, i64 {offset}")
    if index.multiplier:
        prefix = builder.value(f"mul i64 {prefix}, {signed_word(index.multiplier)}")
        prefix = builder.value(f"lshr i64 {prefix}, {index.shift}")
    cells = builder.value(f"getelementptr i8, ptr {record}, i64 {8 * HEAD}")
    return builder.value(f"getelementptr i64, ptr {cells}, i64 {prefix}")


def _address(builder: Builder, channel: Channel, offset: int) -> str:
    if offset == 0:
        return f"%{_NAMES[channel]}"
    return builder.value(f"getelementptr i8, ptr %{_NAMES[channel]}, i64 {offset}")


def _tell(builder: Builder, offset: int, value: str) -> None:
    builder.emit(f"store i64 {value}, ptr {channel_field(offset)}, align 8")


def _load(builder: Builder, channel: Channel, offset: int) -> str:
    return builder.value(f"load i64, ptr {_address(builder, channel, offset)}, align 8")


def _store(builder: Builder, channel: Channel, offset: int, value: str) -> None:
    builder.emit(f"store i64 {value}, ptr {_address(builder, channel, offset)}, align 8")
