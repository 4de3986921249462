"""Label the calls of a program that was instrumented early, once it is optimised.

The debug location of each call that is left contains the site that it came from, and after ``inlinedAt`` the
sites of the calls that were inlined around it: one frame of the machine stands for all of those functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.native.analysis.call_effects import Call, calls_of
from trodden.native.analysis.tail_calls import TailCalls
from trodden.native.ir.attributes import Attributes, read_attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import DebugInfo, read_debug_info
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.module import IRModule, cut_module
from trodden.native.ir.symbols import mentions, names_function
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.lower.call_site_labels import SITE_OF_NO_BLOCK, declare_resume, resume_call, site_label
from trodden.native.lower.inlined_unwinding import LEFT, InlinedUnwinding
from trodden.native.lower.personalities import Personalities
from trodden.native.lower.runtime_symbols import COUNTERS, TABLE, UNWIND_RESUME
from trodden.program.call_site_table import SITES_SECTION


def label_calls(text: str, tag: int) -> IRModule:
    """The module with labels around every call that needs a site and whose sites are known.

    Only now do functions get their personalities: a function is not inlined into one that has another.
    """
    module = cut_module(text)
    chains = _InlineChains(read_debug_info(module.epilogue))
    attributes = read_attributes(module)
    personalities = Personalities(attributes)
    module.definitions = [
        _label_function(cut_function(definition), attributes, chains, tag)
        for definition in module.definitions
    ]
    if any(mentions(definition, [SITES_SECTION]) for definition in module.definitions):
        module.definitions = [_with_personality(each, personalities) for each in module.definitions]
        signatures = module.signatures()
        declared = personalities.declarations(signatures)
        if any(names_function(definition, UNWIND_RESUME) for definition in module.definitions):
            declared += declare_resume(signatures)
        if any(names_function(definition, LEFT) for definition in module.definitions):
            declared.append(f"declare hidden void {LEFT}() nounwind")
        module.epilogue = "".join(f"{line}\n" for line in declared) + module.epilogue
    return module


def _with_personality(definition: str, personalities: Personalities) -> str:
    """The definition with a personality, if it has labels or uses counters, its own or inlined ones."""
    if not mentions(definition, (COUNTERS, TABLE, SITES_SECTION)):
        return definition
    end = definition.index("\n")
    return personalities.give(definition[:end]) + definition[end:]


class _InlineChains:
    """From a debug location to the call sites of its frame, innermost first."""

    def __init__(self, debug: DebugInfo) -> None:
        self.debug = debug
        self.sites = {scope: number - 1 for scope, number in debug.discriminators().items()}

    def sites_of(self, call: Instruction) -> list[int]:
        """The sites of a call; functions without probes that were inlined in between have none."""
        node = call.attachment("dbg")
        found: list[int] = []
        while node is not None:
            _, scope = self.debug.locations.get(node, (0, ""))
            if scope in self.sites:
                found.append(self.sites[scope])
            node = self.debug.inlined_at.get(node)
        return found


@dataclass(frozen=True)
class _Labels:
    """The labels of one function, which is in the given COMDAT group."""

    chains: _InlineChains
    tag: int
    group: str | None

    def before(self, sites: Sequence[int]) -> str:
        """The label before a call."""
        return self._line([site * 2 for site in sites])

    def after(self, sites: Sequence[int]) -> str:
        """The label after a call."""
        return self._line([site * 2 + 1 for site in sites])

    def left(self, sites: Sequence[int]) -> str:
        """What reports that the functions at these sites were left."""
        return f"{self.before(sites)}  call void {LEFT}() nounwind\n{self.after(sites)}"

    def _line(self, codes: list[int]) -> str:
        return f"  {site_label(self.tag, codes, self.group)}\n"


def _label_function(ir: IRFunction, attributes: Attributes, chains: _InlineChains, tag: int) -> str:
    labels = _Labels(chains, tag, FunctionHeader(ir.header).comdat)
    ir = InlinedUnwinding(chains.debug, chains.sites, labels.left).settle(ir)
    calls = [calls_of(block, attributes) for block in ir.blocks]
    tail_calls = TailCalls(ir, calls, optimised=True)
    texts = [
        _label_block(block, each, final if block.opcode != "unreachable" else None, labels, f"trodden.on.{v}")
        for v, (block, each, final) in enumerate(zip(ir.blocks, calls, tail_calls.by_block, strict=True))
    ]
    return f"{ir.header}\n" + "\n\n".join(texts) + "\n}"


def _label_block(block: IRBlock, calls: Sequence[Call], tail: Call | None, labels: _Labels, name: str) -> str:
    """The block with labels; ``name`` is for an exception that propagates from it."""
    pieces: list[str] = []
    position = 0
    for call in calls:
        sites = labels.chains.sites_of(call.instruction) if call.needs_site else []
        if not sites:
            continue
        pieces.append(block.text[position : call.start])
        pieces.append(labels.before(sites) + block.text[call.start : call.end + 1])
        position = call.end + 1
        if call is not tail:
            pieces.append(labels.after(sites))
    pieces.append(block.text[position : block.terminator_start])
    terminator = block.text[block.terminator_start :]
    if block.opcode == "invoke":
        sites = labels.chains.sites_of(block.terminator)
        if sites:
            pieces.append(labels.before(sites))
    elif block.opcode == "resume" and labels.chains.sites:
        exception, terminator = resume_call(block.terminator, name)
        pieces += [exception, labels.before([SITE_OF_NO_BLOCK])]
    return "".join([*pieces, terminator])
