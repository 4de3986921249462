"""Label the calls of a program that was instrumented early, once it is optimised.

Each call left after optimisation carries, in its debug location, the site it came from, and behind
``inlinedAt`` the sites of the calls that were inlined around it: one frame of the machine stands for
all of those functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.native.analysis.call_effects import Call, calls_of
from trodden.native.analysis.tail_calls import TailCalls
from trodden.native.ir.attributes import Attributes, read_attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.module import IRModule, cut_module
from trodden.native.lower.call_site_labels import (
    OF_NO_BLOCK,
    SECTION,
    comdat_group,
    declare_resume,
    resuming,
    site_label,
)
from trodden.native.lower.counter_access import TABLE
from trodden.native.lower.emit_paths import COUNTERS
from trodden.native.lower.personalities import Personalities

_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\((.*)\)$", re.MULTILINE)
_TAG = re.compile(r"^!(\d+) = (?:distinct )?!DILexicalBlockFile\(.*discriminator: (\d+)\)$", re.MULTILINE)
_SCOPE = re.compile(r"scope: !(\d+)")
_INLINED = re.compile(r"inlinedAt: !(\d+)")
_DBG = re.compile(r"!dbg !(\d+)")


def label_calls(text: str, tag: int) -> IRModule:
    """The module with labels around every call that may stay away and whose sites are known.

    Only now do functions get their personalities: one is not inlined where another is in use.
    """
    module = cut_module(text)
    chains = _Chains(module.epilogue)
    attributes = read_attributes(module)
    personalities = Personalities(attributes)
    module.definitions = [
        _label_function(cut_function(definition), attributes, chains, tag)
        for definition in module.definitions
    ]
    if any(SECTION in definition for definition in module.definitions):
        module.definitions = [_given(definition, personalities) for definition in module.definitions]
        declared = [*personalities.declarations(module.signatures()), *declare_resume(module)]
        module.epilogue = "".join(line + "\n" for line in declared) + module.epilogue
    return module


def _given(definition: str, personalities: Personalities) -> str:
    """The definition with a personality, if it counts anything or has labels."""
    if not any(mark in definition for mark in (COUNTERS, TABLE, SECTION)):
        return definition
    end = definition.index("\n")
    return personalities.give(definition[:end]) + definition[end:]


class _Chains:
    """From a debug location to the sites of its frame, innermost first."""

    def __init__(self, metadata: str) -> None:
        self.tags = {node: int(number) - 1 for node, number in _TAG.findall(metadata)}
        self._locations: dict[str, tuple[str, str | None]] = {}
        for node, body in _LOCATION.findall(metadata):
            scope, outer = _SCOPE.search(body), _INLINED.search(body)
            self._locations[node] = (scope.group(1) if scope else "", outer.group(1) if outer else None)

    def sites(self, line: str) -> list[int]:
        """The sites of a call; functions without probes that were inlined on the way have none."""
        match = _DBG.search(line)
        node = match.group(1) if match else None
        found: list[int] = []
        while node is not None:
            scope, outer = self._locations.get(node, ("", None))
            if scope in self.tags:
                found.append(self.tags[scope])
            node = outer
        return found


@dataclass(frozen=True)
class _Labels:
    """The labels of one function, which lies in the given COMDAT group."""

    chains: _Chains
    tag: int
    group: str | None

    def sites(self, line: str) -> list[int]:
        """The sites of a call."""
        return self.chains.sites(line)

    def label(self, sites: Sequence[int], after: int) -> str:
        """A label before a call, or behind it."""
        return site_label(self.tag, [site * 2 + after for site in sites], self.group) + "\n"

    def resume(self, line: str, name: str) -> str:
        """The way on of an exception, with a label."""
        return resuming(line, name, self.tag, OF_NO_BLOCK, self.group) if self.chains.tags else line


def _label_function(ir: IRFunction, attributes: Attributes, chains: _Chains, tag: int) -> str:
    labels = _Labels(chains, tag, comdat_group(ir))
    calls = [calls_of(block, attributes) for block in ir.blocks]
    tail_calls = TailCalls(ir, calls, optimised=True)
    texts = [
        _label_block(block, each, final if block.opcode != "unreachable" else None, labels, f"trodden.on.{v}")
        for v, (block, each, final) in enumerate(zip(ir.blocks, calls, tail_calls.by_block, strict=True))
    ]
    return ir.header + "\n" + "\n\n".join(texts) + "\n}"


def _label_block(block: IRBlock, calls: Sequence[Call], tail: Call | None, labels: _Labels, name: str) -> str:
    pieces: list[str] = []
    position = 0
    for call in calls:
        sites = labels.sites(block.text[call.start : call.end]) if call.may_not_return else []
        if not sites:
            continue
        pieces.append(block.text[position : call.start])
        pieces.append(labels.label(sites, 0) + block.text[call.start : call.end + 1])
        position = call.end + 1
        if call is not tail:
            pieces.append(labels.label(sites, 1))
    pieces.append(block.text[position : block.terminator_start])
    terminator = block.text[block.terminator_start :]
    if block.opcode == "invoke":
        sites = labels.sites(terminator)
        if sites:
            pieces.append(labels.label(sites, 0))
    elif block.opcode == "resume":
        terminator = labels.resume(terminator, name)
    return "".join([*pieces, terminator])
