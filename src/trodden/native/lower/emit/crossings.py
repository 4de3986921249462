"""Emit the code of probes for paths that extend over calls and returns (TZG04 §3.3, Figure 4).

What caller and callee tell each other is in a thread-local variable, the *channel* (``trodden.h``).  What a
function has taken from there, and the register of its overlap, are in its frame: an overlap lives across
calls, so that a machine register for it would be saved and restored anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.lower.builder import Builder
from trodden.native.lower.call_names import Called, CallNames, called_by
from trodden.native.lower.emit.channel import (
    ADDRESS,
    CALLEE,
    PATH,
    PREFIX,
    SITE,
    TARGET,
    TOKEN,
    channel_field,
)
from trodden.native.lower.runtime_symbols import CHANNEL, COUNT_CROSSING, UNIT
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

_UNIT_NUMBER = f"getelementptr (i8, ptr {UNIT}, i64 48)"
_RETURNED = 1 << 63
_NAMES = {Channel.ENTERED: "trodden.entered", Channel.RETURNED: "trodden.returned"}
_DEPTH, _REGISTER, _PASSED, _SITE, _FIRST, _SECOND = range(0, 48, 8)
"""Where in the frame's record of a channel its parts are: the overlap, the call site, and the other part of
the key: the prefix, or the callee and its path."""

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
    """Emits the code of these probes in one function, by its number in the unit."""

    read: FunctionCfg
    function: int
    names: CallNames

    @staticmethod
    def of(read: FunctionCfg, plan: Plan, function: int, names: CallNames | None) -> CrossingEmitter | None:
        """The emitter for a plan that counts such paths."""
        if plan.calls is None or names is None:
            return None
        return CrossingEmitter(read, function, names)

    @property
    def _name(self) -> str:
        """The function, as it is printed."""
        return f"@{FunctionHeader(self.read.ir.header).name}"

    @property
    def variables(self) -> list[str]:
        """The frame's records."""
        return [f"  %{name} = alloca [6 x i64], align 8" for name in _NAMES.values()]

    def emit(self, builder: Builder, probe: Probe, mark: Mark | None, number: str) -> None:
        """One probe, at the edge or block of its mark; ``number`` is the path that it reads."""
        builder.location = None
        block = self._block_of(mark)
        match probe:
            case PublishCall(site, _):
                self._publish_call(builder, site, block, number)
            case PublishCallAt(site, prefix):
                self._publish_call(builder, site, block, str(signed_word(prefix)))
            case TakeCall(start):
                self._take_call(builder, start)
            case PublishReturn():
                self._publish_return(builder, number)
            case PublishReturnAt(path):
                self._publish_return(builder, str(signed_word(path)))
            case TakeReturn(site, start):
                self._take_return(builder, site, block, start)
            case CountPredicate(channel):
                passed = _load(builder, channel, _PASSED)
                _store(builder, channel, _PASSED, builder.value(f"add i64 {passed}, 1"))
            case AddOverlap(channel, value, limit):
                self._add(builder, channel, value, limit)
            case ClearOverlap(channel):
                _store(builder, channel, _DEPTH, "0")
            case BumpOverlap(channel, _):
                self._count(builder, channel, _load(builder, channel, _REGISTER))
            case PairOverlap(channel, _):
                self._count(builder, channel, number)
            case PairOverlapAt(channel, path):
                self._count(builder, channel, str(signed_word(path)))

    def _block_of(self, mark: Mark | None) -> int:
        """The block that a probe is at the end of: that of the call, if it is about one."""
        if mark is None or mark.holder is not Holder.EDGE:
            return 0 if mark is None else mark.index
        return self.read.graph.edges[mark.index].src

    def _word(self, builder: Builder, index: int) -> str:
        """The word for a function or a call site of this unit."""
        number = builder.value(f"load i64, ptr {_UNIT_NUMBER}, align 8")
        return builder.value(f"or i64 {number}, {signed_word(index << 32)}")

    def _publish_call(self, builder: Builder, site: int, block: int, prefix: str) -> None:
        """The target comes last: a handler may run in between."""
        called = called_by(self.read, block)
        _tell(builder, SITE, self._word(builder, site))
        _tell(builder, PREFIX, prefix)
        _tell(builder, TARGET, self._target(builder, called))

    def _target(self, builder: Builder, called: Called) -> str:
        if called.symbol is not None:
            return str(signed_word(self.names.token(called.symbol)))
        return builder.value(f"ptrtoint ptr {called.operand} to i64")

    def _take_call(self, builder: Builder, start: int | None) -> None:
        """Without a branch: what is not meant for this function stays as it is."""
        target = _told(builder, TARGET)
        meant = self._is_own(builder, target)
        active = builder.value(f"zext i1 {meant} to i64")
        _store(builder, Channel.ENTERED, _DEPTH, active)
        _store(builder, Channel.ENTERED, _SITE, _told(builder, SITE))
        _store(builder, Channel.ENTERED, _FIRST, _told(builder, PREFIX))
        _begin(builder, Channel.ENTERED, start)
        _tell(builder, TARGET, builder.value(f"select i1 {meant}, i64 0, i64 {target}"))

    def _is_own(self, builder: Builder, target: str) -> str:
        symbol, name = self.read.ir.symbol, self._name
        meant = builder.value(f"icmp eq i64 {target}, {signed_word(self.names.token(symbol))}")
        certain = self.names.own_names.get(name)
        if certain is not None:
            same = builder.value(f"icmp eq ptr {name}, {certain}")
            meant = builder.value(f"and i1 {meant}, {same}")
        if symbol in self.names.unaddressed:
            return meant
        own = builder.value(f"ptrtoint ptr {certain or name} to i64")
        address = builder.value(f"icmp eq i64 {target}, {own}")
        return builder.value(f"or i1 {meant}, {address}")

    def _publish_return(self, builder: Builder, path: str) -> None:
        symbol, name = self.read.ir.symbol, self._name
        token, own = str(signed_word(self.names.token(symbol))), "0"
        certain = self.names.own_names.get(name)
        if certain is not None:
            same = builder.value(f"icmp eq ptr {name}, {certain}")
            token = builder.value(f"select i1 {same}, i64 {token}, i64 0")
        if symbol not in self.names.unaddressed:
            own = builder.value(f"ptrtoint ptr {certain or name} to i64")
        _tell(builder, CALLEE, self._word(builder, self.function))
        _tell(builder, PATH, path)
        _tell(builder, TOKEN, token)
        _tell(builder, ADDRESS, own)

    def _take_return(self, builder: Builder, site: int, block: int, start: int | None) -> None:
        called = called_by(self.read, block)
        told = _told(builder, ADDRESS if called.symbol is None else TOKEN)
        same = builder.value(f"icmp eq i64 {told}, {self._target(builder, called)}")
        channel = Channel.RETURNED
        _store(builder, channel, _DEPTH, builder.value(f"zext i1 {same} to i64"))
        _store(builder, channel, _SITE, self._word(builder, site))
        _store(builder, channel, _FIRST, _told(builder, CALLEE))
        _store(builder, channel, _SECOND, _told(builder, PATH))
        _begin(builder, channel, start)

    def _add(self, builder: Builder, channel: Channel, value: int, limit: int | None) -> None:
        amount = str(signed_word(value))
        if limit is not None:
            passed = _load(builder, channel, _PASSED)
            on = builder.value(f"icmp ule i64 {passed}, {limit}")
            amount = builder.value(f"select i1 {on}, i64 {amount}, i64 0")
        register = _load(builder, channel, _REGISTER)
        _store(builder, channel, _REGISTER, builder.value(f"add i64 {register}, {amount}"))

    def _count(self, builder: Builder, channel: Channel, own: str) -> None:
        """If there is an overlap it has ended, in this function with the number ``own``."""
        depth = _load(builder, channel, _DEPTH)
        active = builder.value(f"icmp ne i64 {depth}, 0")
        counts, done = builder.reserve(), builder.reserve()
        builder.emit(f"br i1 {active}, label %{counts}, label %{done}")
        builder.label(counts)
        _store(builder, channel, _DEPTH, "0")
        site, first = _load(builder, channel, _SITE), _load(builder, channel, _FIRST)
        if channel is Channel.ENTERED:
            key = self._word(builder, self.function), site, own, first
        else:
            returned = builder.value(f"or i64 {first}, {signed_word(_RETURNED)}")
            key = returned, site, _load(builder, channel, _SECOND), own
        where = builder.value(f"call ptr @llvm.threadlocal.address.p0(ptr {CHANNEL})")
        words = ", ".join(f"i64 {part}" for part in key)
        builder.emit(f"call preserve_mostcc void {COUNT_CROSSING}(ptr {where}, {words})")
        builder.emit(f"br label %{done}")
        builder.label(done)


def signed_word(number: int) -> int:
    """A number of 64 bits as IR writes it."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def _begin(builder: Builder, channel: Channel, start: int | None) -> None:
    if start is not None:
        _store(builder, channel, _REGISTER, str(signed_word(start)))
        _store(builder, channel, _PASSED, "0")


def _address(builder: Builder, channel: Channel, offset: int) -> str:
    if offset == 0:
        return f"%{_NAMES[channel]}"
    return builder.value(f"getelementptr i8, ptr %{_NAMES[channel]}, i64 {offset}")


def _load(builder: Builder, channel: Channel, offset: int) -> str:
    return builder.value(f"load i64, ptr {_address(builder, channel, offset)}, align 8")


def _store(builder: Builder, channel: Channel, offset: int, value: str) -> None:
    builder.emit(f"store i64 {value}, ptr {_address(builder, channel, offset)}, align 8")


def _told(builder: Builder, offset: int) -> str:
    return builder.value(f"load i64, ptr {channel_field(offset)}, align 8")


def _tell(builder: Builder, offset: int, value: str) -> None:
    builder.emit(f"store i64 {value}, ptr {channel_field(offset)}, align 8")
