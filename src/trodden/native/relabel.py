"""Label the calls of a program that was instrumented early, once it is optimised.

Each call left after optimisation carries, in its debug location, the site it came from, and behind
``inlinedAt`` the sites of the calls that were inlined around it: one frame of the machine stands for
all of those functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trodden.native.calls import Attributes, Call, read_attributes
from trodden.native.irtext import IRBlock, IRFunction, IRModule, cut_function, cut_module
from trodden.native.sites import comdat_group, site_label
from trodden.native.tails import Tails

_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\((.*)\)$", re.MULTILINE)
_TAG = re.compile(r"^!(\d+) = (?:distinct )?!DILexicalBlockFile\(.*discriminator: (\d+)\)$", re.MULTILINE)
_SCOPE = re.compile(r"scope: !(\d+)")
_INLINED = re.compile(r"inlinedAt: !(\d+)")
_DBG = re.compile(r"!dbg !(\d+)")


def label_calls(text: str, tag: int) -> IRModule:
    """The module with labels around every call that may stay away and whose sites are known."""
    module = cut_module(text)
    chains = _Chains(module.epilogue)
    attributes = read_attributes(module)
    module.definitions = [
        _label_function(cut_function(definition), attributes, chains, tag)
        for definition in module.definitions
    ]
    return module


class _Chains:
    """From a debug location to the sites of its frame, innermost first."""

    def __init__(self, metadata: str) -> None:
        self._tags = {node: int(number) - 1 for node, number in _TAG.findall(metadata)}
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
            if scope in self._tags:
                found.append(self._tags[scope])
            node = outer
        return found


def _label_function(ir: IRFunction, attributes: Attributes, chains: _Chains, tag: int) -> str:
    group = comdat_group(ir)
    calls = [list(attributes.calls(block)) for block in ir.blocks]
    tails = Tails(ir, calls, optimised=True)
    texts = [
        _label_block(block, each, final if block.opcode != "unreachable" else None, chains, tag, group)
        for block, each, final in zip(ir.blocks, calls, tails.final, strict=True)
    ]
    return ir.header + "\n" + "\n\n".join(texts) + "\n}"


def _label_block(
    block: IRBlock, calls: Sequence[Call], tail: Call | None, chains: _Chains, tag: int, group: str | None
) -> str:
    pieces: list[str] = []
    position = 0
    for call in calls:
        sites = chains.sites(block.text[call.start : call.end]) if call.may_stay_away else []
        if not sites:
            continue
        pieces.append(block.text[position : call.start])
        pieces.append(_label(tag, sites, 0, group) + block.text[call.start : call.end + 1])
        position = call.end + 1
        if call is not tail:
            pieces.append(_label(tag, sites, 1, group))
    if block.opcode == "invoke":
        sites = chains.sites(block.text[block.terminator :])
        if sites:
            pieces.append(block.text[position : block.terminator] + _label(tag, sites, 0, group))
            position = block.terminator
    pieces.append(block.text[position:])
    return "".join(pieces)


def _label(tag: int, sites: Sequence[int], after: int, group: str | None) -> str:
    return site_label(tag, [site * 2 + after for site in sites], group) + "\n"
