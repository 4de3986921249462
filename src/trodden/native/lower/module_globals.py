"""What a module needs beside probes: counters, an entry in the runtime's table, fewer debug nodes."""

from __future__ import annotations

import re

from trodden.native.ir.module import IRModule
from trodden.native.lower.call_site_labels import declare_resume
from trodden.native.lower.counter_access import TABLE, by_table, declare_table
from trodden.native.lower.emit_call_paths import WHERE, declare_calls
from trodden.native.lower.emit_last_paths import FIND_RING, FLAG_SHIFT, declare_ring
from trodden.native.lower.emit_paths import COUNTERS, NOTE
from trodden.native.lower.personalities import Personalities
from trodden.program.facts import UnitFacts

_LAYOUT = "@__trodden_layout_2"
"""What the runtime calls the layout of a unit's entry: one that is made for another does not link."""
_USED = re.compile(
    r"^@llvm\.used = appending global \[\d+ x ptr\] \[(.*)\], section \"llvm.metadata\"$", re.MULTILINE
)


def may_be_shared(module: IRModule) -> bool:
    """Whether the code may end up in a shared library."""
    return '!"PIC Level"' in module.epilogue and '!"PIE Level"' not in module.epilogue


def declare(
    module: IRModule,
    facts: UnitFacts,
    personalities: Personalities,
    calls_on: str | None = None,
    filled: bool = False,
    last: int = 0,
) -> None:
    """Add the counters, what tells the runtime of them, and what the functions' personalities need.

    ``calls_on`` is the machine, if the unit keeps paths of calls; ``filled`` says that counters take room
    in the object file; ``last`` is how many last paths of each thread it keeps.
    """
    shared = may_be_shared(module)
    identity = "".join(f"\\{facts.id[i : i + 2]}" for i in range(0, 32, 2))
    place = "null" if calls_on is None else WHERE
    ring = FIND_RING if last else "null"
    flags = int(not shared) | last << FLAG_SHIFT
    signatures = module.signatures()
    lines = declare_table() if shared else _own_counters(facts, filled)
    if shared:
        module.definitions = [by_table(text) for text in module.definitions]
    lines.append(
        "@__trodden_unit = internal global { [16 x i8], i32, i32, ptr, ptr, i64, i64, ptr, ptr } "
        f'{{ [16 x i8] c"{identity}", i32 {facts.slots}, i32 {flags}, '
        f'ptr @__trodden_where, ptr {place}, i64 0, i64 0, ptr {ring}, ptr {_LAYOUT} }}, '
        'section "trodden_units", align 8'
    )
    lines.append(f"{_LAYOUT} = external hidden constant i8")
    used = _USED.search(module.prologue)
    entries = [used.group(1)] if used is not None else []
    if used is not None:
        module.prologue = module.prologue[: used.start()] + module.prologue[used.end() :]
    entries.append("ptr @__trodden_unit")
    listed = ", ".join(entries)
    number = listed.count("ptr @")
    lines.append(f'@llvm.used = appending global [{number} x ptr] [{listed}], section "llvm.metadata"')
    lines += [*personalities.declarations(signatures), *declare_resume(module)]
    if "@llvm.threadlocal.address.p0(" not in signatures:
        lines.append("declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)")
    if any(f" {NOTE}(" in definition for definition in module.definitions):
        lines.append(f"declare preserve_mostcc void {NOTE}(ptr, i64, i64, i64) nounwind willreturn")
    if "@llvm.readcyclecounter(" not in signatures:
        lines.append("declare i64 @llvm.readcyclecounter()")
    if calls_on is not None:
        lines += declare_calls(module, len(facts.functions), calls_on, shared)
    if last:
        lines += declare_ring(shared)
    lines += [
        "define internal ptr @__trodden_where() nounwind {",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {TABLE if shared else COUNTERS})",
        "  ret ptr %address",
        "}",
        "",
        "",
    ]
    module.epilogue = "\n".join(lines) + module.epilogue


def _own_counters(facts: UnitFacts, filled: bool) -> list[str]:
    """Counters of a unit that is part of a program: they lie at a known distance from the thread pointer.

    The assembler lays them out, since LLVM would always fill a section of that name with zeros in the file.
    They have to be there (``filled``) for GNU's linker, which knows only one thread-local section without.
    """
    kind = "progbits" if filled else "nobits"
    slots = max(facts.slots, 1)
    name = COUNTERS[1:]
    return [
        f'module asm ".pushsection .trodden_counts,\\22awT\\22,@{kind}"',
        f'module asm ".p2align 6\\0A.type {name},@object\\0A.size {name}, {slots * 8}"',
        f'module asm "{name}:\\0A.zero {slots * 8}"',
        'module asm ".popsection"',
        f"{COUNTERS} = external dso_local thread_local(localexec) global [{slots} x i64], align 64",
    ]


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
