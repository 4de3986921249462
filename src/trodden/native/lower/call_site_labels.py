"""Telling where a frame is: every call that may stay away belongs to a site, and a site to a block.

At the late stage labels stand before and after each such call, without any instruction, and enter their
addresses in the section ``.trodden_sites``.  At the early stage the optimiser still moves, copies and inlines
calls, so a site is first written into the call's debug location (as a discriminator), which inlining
keeps, chained from callee to caller; the labels are put in once the program is optimised.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from trodden.native.ir.debug_info import DebugInfo
from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME
from trodden.native.ir.module import IRModule

SECTION = ".trodden_sites"
LINE_ENDS = ".ascii \\22\\22\\0A"
"""No bytes, but the assembler enters a change of line that is due before it goes to another section."""

_COMDAT = re.compile(rf" comdat(?:\(\$({NAME})\))?")
_DBG = re.compile(r"!dbg !(\d+)")
_RESUME = re.compile(r"  resume (.*?)((?:, ![\w.]+ !\d+)*)$")
RESUME = "@_Unwind_Resume"


@dataclass
class Sites:
    """The call sites of a unit, in order: which function and block each lies in."""

    tag: int
    known: list[tuple[int, int]] = field(default_factory=list)

    def add(self, function: int, block: int) -> int:
        """Enter a site and answer its number."""
        self.known.append((function, block))
        return len(self.known) - 1

    def labels(self, group: str | None) -> Labels:
        """What marks the calls of a function that lies in the given COMDAT group."""
        return Labels(self, group)


@dataclass
class Labels:
    """Marks calls with assembler labels."""

    sites: Sites
    group: str | None
    _last: int = -1

    def open(self, line: str, function: int, block: int, pieces: list[str]) -> str:
        """Enter a call and put a label before it; answers the call's own text."""
        self._last = self.sites.add(function, block)
        pieces.append(site_label(self.sites.tag, [self._last * 2], self.group) + "\n")
        return line

    def close(self, pieces: list[str]) -> None:
        """Put a label behind the call that was entered last."""
        pieces.append(site_label(self.sites.tag, [self._last * 2 + 1], self.group) + "\n")

    def resume(self, line: str, function: int, name: str) -> str:
        """The way on of an exception, as a call with a label: the block has counted its way out."""
        return resuming(line, name, self.sites.tag, self.sites.add(function, -1), self.group)


OF_NO_BLOCK = 0
"""The number of a tagged site that stands for calls whose blocks have counted their way out."""


@dataclass
class TaggedSites(Sites):
    """Call sites that travel in debug locations until the program is optimised."""

    debug: DebugInfo = field(default_factory=DebugInfo)
    nodes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known.append((0, -1))

    def labels(self, group: str | None) -> Labels:
        """What marks the calls of a function."""
        return _Tags(self, group)

    def tagged(self, line: str, site: int) -> str:
        """A call with a debug location of its own that names its site."""
        match = _DBG.search(line)
        location = self.debug.locations.get(match.group(1)) if match else None
        if match is None or location is None:
            return line
        scope, place = self.debug.fresh(), self.debug.fresh()
        file = self.debug.file_node(location[1])
        self.nodes.append(
            f"!{scope} = !DILexicalBlockFile(scope: !{location[1]}, file: {file}, discriminator: {site + 1})"
        )
        # Rust's compiler inlines before there is IR.
        outer = self.debug.inlined_at.get(match.group(1))
        inlined = "" if outer is None else f", inlinedAt: !{outer}"
        self.nodes.append(f"!{place} = !DILocation(line: {location[0]}, scope: !{scope}{inlined})")
        return f"{line[: match.start()]}!dbg !{place}{line[match.end() :]}"


@dataclass
class _Tags(Labels):
    def open(self, line: str, function: int, block: int, pieces: list[str]) -> str:
        """Enter a call and tag its debug location."""
        assert isinstance(self.sites, TaggedSites)
        return self.sites.tagged(line, self.sites.add(function, block))

    def close(self, pieces: list[str]) -> None:
        """Nothing stands behind a call yet."""

    def resume(self, line: str, function: int, name: str) -> str:
        """Inlined, it may become a jump."""
        return line


def comdat_group(ir: IRFunction) -> str | None:
    """The COMDAT group a function lies in: its labels must vanish with it when another copy is linked."""
    match = _COMDAT.search(ir.header)
    return None if match is None else match.group(1) or ir.symbol


def site_label(tag: int, codes: list[int], group: str | None) -> str:
    """An assembler label, without any instruction, entered in the table of call sites."""
    section = f"{SECTION},\\22\\22,@progbits"
    if group is not None:
        section = f"{SECTION},\\22G\\22,@progbits,\\22{group}\\22,comdat"
    entries = "".join(f".quad 77b\\0A.long {tag}, {code}\\0A" for code in codes)
    return (
        f'  call void asm sideeffect "77:\\0A{LINE_ENDS}.pushsection {section}\\0A{entries}.popsection", ""()'
    )


def resuming(line: str, name: str, tag: int, site: int, group: str | None) -> str:
    """What LLVM makes of ``resume``: a call that never returns, here with a label.

    The frame is asked for its personality once more from there, and is no longer in the call it was in.
    """
    match = _RESUME.match(line)
    assert match is not None, line
    return "\n".join(
        [
            f"  %{name} = extractvalue {match.group(1)}, 0{match.group(2)}",
            site_label(tag, [site * 2], group),
            f"  call void {RESUME}(ptr %{name}) noreturn{match.group(2)}",
            "  unreachable",
        ]
    )


def declare_resume(module: IRModule) -> list[str]:
    """The function that is called for ``resume``, if it is and has not been declared before."""
    used = any(f" {RESUME}(" in definition for definition in module.definitions)
    return [f"declare void {RESUME}(ptr)"] if used and f" {RESUME}(" not in module.signatures() else []
