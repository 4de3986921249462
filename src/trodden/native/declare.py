"""What a module needs beside probes: counters, an entry in the runtime's table, fewer debug nodes."""

from __future__ import annotations

import re

from trodden.native.callcode import WHERE, declare_calls
from trodden.native.irtext import IRModule
from trodden.native.pathcode import COUNTERS, NOTE
from trodden.profile.model import UnitFacts

_USED = re.compile(
    r"^@llvm\.used = appending global \[\d+ x ptr\] \[(.*)\], section \"llvm.metadata\"$", re.MULTILINE
)


def declare(module: IRModule, facts: UnitFacts, personalities: set[str], calls_on: str | None = None) -> None:
    """Add the counters, what tells the runtime of them, and declarations that the pads need.

    ``calls_on`` is the machine, if the unit keeps paths of calls.
    """
    shared = '!"PIC Level"' in module.epilogue and '!"PIE Level"' not in module.epilogue
    model = "localdynamic" if shared else "localexec"
    identity = "".join(f"\\{facts.id[i : i + 2]}" for i in range(0, 32, 2))
    place = "null" if calls_on is None else WHERE
    signatures = module.signatures()
    lines = [
        f"{COUNTERS} = internal thread_local({model}) global [{max(facts.slots, 1)} x i64] zeroinitializer,"
        " align 64",
        "@__trodden_unit = internal global { [16 x i8], i32, i32, ptr, ptr } "
        f'{{ [16 x i8] c"{identity}", i32 {facts.slots}, i32 {int(not shared)}, '
        f'ptr @__trodden_where, ptr {place} }}, section "trodden_units", align 8',
    ]
    used = _USED.search(module.prologue)
    entries = [used.group(1)] if used is not None else []
    if used is not None:
        module.prologue = module.prologue[: used.start()] + module.prologue[used.end() :]
    entries.append("ptr @__trodden_unit")
    listed = ", ".join(entries)
    number = listed.count("ptr @")
    lines.append(f'@llvm.used = appending global [{number} x ptr] [{listed}], section "llvm.metadata"')
    lines += [
        f"declare i32 @{personality}(...)"
        for personality in sorted(personalities)
        if f"@{personality}(" not in signatures
    ]
    if "@llvm.threadlocal.address.p0(" not in signatures:
        lines.append("declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)")
    if any(f" {NOTE}(" in definition for definition in module.definitions):
        lines.append(f"declare preserve_mostcc void {NOTE}(ptr, i64, i64, i64) nounwind willreturn")
    if "@llvm.readcyclecounter(" not in signatures:
        lines.append("declare i64 @llvm.readcyclecounter()")
    if calls_on is not None:
        lines += declare_calls(module, len(facts.functions), calls_on, shared)
    lines += [
        "define internal ptr @__trodden_where() nounwind {",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {COUNTERS})",
        "  ret ptr %address",
        "}",
        "",
        "",
    ]
    module.epilogue = "\n".join(lines) + module.epilogue


_DBG_ATTACHMENT = re.compile(
    r", !(?:dbg|DIAssignID) !\d+(?=(?:, ![\w.]+ !\d+)*$)| !dbg !\d+(?= \{$)|(?<=^declare) !dbg !\d+",
    re.MULTILINE,
)
_DBG_RECORD = re.compile(r"^    #dbg.*\n", re.MULTILINE)
_DI_NODE = re.compile(r"^!(\d+) = (?:distinct )?!DI.*\n", re.MULTILINE)
_DBG_NAMED = re.compile(r"^!llvm\.dbg\.cu = .*\n", re.MULTILINE)


def strip_debug(module: IRModule) -> None:
    """Take the debug information out again that was only wanted for the lines.

    Other metadata (of loops) may point at locations; those are replaced by a node that says nothing.
    """
    module.definitions = [_without_debug(text) for text in module.definitions]
    module.between = [_without_debug(text) if "!dbg" in text else text for text in module.between]
    module.prologue = _without_debug(module.prologue)
    dropped = set(_DI_NODE.findall(module.epilogue))
    kept = _DBG_NAMED.sub("", _DI_NODE.sub("", module.epilogue))
    wanted = set(re.findall(r"!(\d+)", kept)) & dropped
    fillers = "".join(f'!{number} = !{{!"trodden.gone"}}\n' for number in sorted(wanted, key=int))
    module.epilogue = kept + fillers


def _without_debug(text: str) -> str:
    text = _DBG_ATTACHMENT.sub("", text)
    return _DBG_RECORD.sub("", text) if "    #dbg" in text else text
