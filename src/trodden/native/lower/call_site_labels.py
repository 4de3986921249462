"""Call sites: from the return address of a frame to the block that it is in.

At the late stage assembler labels are put before and after each call that may not return; they are no
instructions, and enter their addresses in the section ``.trodden_sites``.  At the early stage the optimiser
still moves, duplicates and inlines calls, so the site of a call is first written into its debug location (as
a discriminator), which inlining preserves, chained from callee to caller; the labels are inserted once the
program is optimised (:mod:`trodden.native.lower.early_labels`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from trodden.native.ir.debug_info import DebugInfo
from trodden.native.ir.instruction import Instruction, instructions_of
from trodden.native.ir.rewriting import add_call_attribute, set_attachment
from trodden.native.ir.symbols import names_function
from trodden.native.lower.emit.register_slot import LINE_ENDS
from trodden.native.lower.runtime_symbols import UNWIND_RESUME
from trodden.program.call_site_table import NO_BLOCK, SITES_SECTION


class SiteLabel(NamedTuple):
    """A call of the program as it is to be printed, and the labels before and after it."""

    before: str
    call: str
    after: str


class SiteLabels(Protocol):
    """Labels the calls of one function."""

    def label(self, call: str, block: int) -> SiteLabel:
        """Enter a call site of a block."""

    @property
    def labels_resume(self) -> bool:
        """Whether ``resume`` becomes a call that has a label."""


@dataclass(frozen=True)
class NoLabels:
    """Nothing is labelled."""

    labels_resume: bool = False

    def label(self, call: str, block: int) -> SiteLabel:
        """The call alone."""
        return SiteLabel("", call, "")


@dataclass
class CallSites:
    """The call sites of a unit, in order: the function and the block that each is in."""

    tag: int
    known: list[tuple[int, int]] = field(default_factory=list)

    @property
    def needs_debug(self) -> bool:
        """Whether they are in debug locations, which therefore stay in the module."""
        return False

    @property
    def metadata_nodes(self) -> Sequence[str]:
        """The metadata nodes that they add to the module."""
        return ()

    def add(self, function: int, block: int) -> int:
        """Enter a call site; its number."""
        self.known.append((function, block))
        return len(self.known) - 1

    def labels(self, function: int, group: str | None, call_location: str | None) -> SiteLabels:
        """What labels the calls of a function in the given COMDAT group.

        ``call_location`` is the debug location of labels, which are calls of inline assembly.
        """
        return _AssemblerLabels(self, function, group, call_location)


@dataclass(frozen=True)
class _AssemblerLabels:
    sites: CallSites
    function: int
    group: str | None
    call_location: str | None
    labels_resume: bool = True

    def label(self, call: str, block: int) -> SiteLabel:
        """Labels before and after the call."""
        site = self.sites.add(self.function, block)
        return SiteLabel(self._line(site * 2), call, self._line(site * 2 + 1))

    def _line(self, code: int) -> str:
        location = "" if self.call_location is None else f", !dbg !{self.call_location}"
        return f"  {site_label(self.sites.tag, [code], self.group)}{location}\n"


SITE_OF_NO_BLOCK = 0
"""The number of the tagged site for calls after which their function is left."""


@dataclass
class TaggedSites(CallSites):
    """Call sites in debug locations, until the program is optimised."""

    debug: DebugInfo = field(kw_only=True)
    _nodes: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.known.append((0, NO_BLOCK))

    @property
    def needs_debug(self) -> bool:
        """Debug locations contain them."""
        return True

    @property
    def metadata_nodes(self) -> Sequence[str]:
        """The debug locations of calls, and their scopes."""
        return self._nodes

    def labels(self, function: int, group: str | None, call_location: str | None) -> SiteLabels:
        """What tags the calls of a function."""
        return _Tags(self, function)

    def tagged(self, call: str, site: int) -> str:
        """A call with a debug location of its own that contains the number of its site.

        Of two calls that are merged it would be lost.
        """
        node = next(instructions_of(call)).attachment("dbg")
        location = None if node is None else self.debug.locations.get(node)
        if node is None or location is None:
            return call
        line, outer_scope = location
        scope, own = self.debug.fresh(), self.debug.fresh()
        file = self.debug.file_node(outer_scope)
        self._nodes.append(
            f"!{scope} = !DILexicalBlockFile(scope: !{outer_scope}, file: {file}, discriminator: {site + 1})"
        )
        # Rust's compiler inlines before there is IR.
        outer = self.debug.inlined_at.get(node)
        inlined = "" if outer is None else f", inlinedAt: !{outer}"
        self._nodes.append(f"!{own} = !DILocation(line: {line}, scope: !{scope}{inlined})")
        return set_attachment(add_call_attribute(call, "nomerge"), "dbg", str(own))


@dataclass(frozen=True)
class _Tags:
    """``resume`` stays as it is: inlined, it may become a jump."""

    sites: TaggedSites
    function: int
    labels_resume: bool = False

    def label(self, call: str, block: int) -> SiteLabel:
        """The call with a tagged debug location."""
        return SiteLabel("", self.sites.tagged(call, self.sites.add(self.function, block)), "")


def site_label(tag: int, codes: list[int], group: str | None) -> str:
    """A call of inline assembly, without instructions, that enters its address in the table of call sites.

    The labels of a function in a COMDAT ``group`` are in it too: they vanish when another copy is linked.
    """
    section = f"{SITES_SECTION},\\22\\22,@progbits"
    if group is not None:
        section = f"{SITES_SECTION},\\22G\\22,@progbits,\\22{group}\\22,comdat"
    entries = "".join(f".quad 77b\\0A.long {tag}, {code}\\0A" for code in codes)
    code = f"77:\\0A{LINE_ENDS}.pushsection {section}\\0A{entries}.popsection"
    return f'call void asm sideeffect "{code}", ""()'


class ResumeCall(NamedTuple):
    """What LLVM makes of ``resume``, in two parts: the second one is a call that never returns."""

    exception: str
    call: str


def resume_call(resume: Instruction, name: str) -> ResumeCall:
    """A ``resume`` as a call, which can have a label; ``name`` is for the exception.

    The frame is asked for its personality once more from there, and is no longer in the call it was in.
    """
    attachments = resume.text[resume.attachments_start - resume.start :]
    return ResumeCall(
        f"  %{name} = extractvalue {resume.rest}, 0{attachments}\n",
        f"  call void {UNWIND_RESUME}(ptr %{name}) noreturn{attachments}\n  unreachable",
    )


def declare_resume(signatures: str) -> list[str]:
    """The function that is called for ``resume``, unless it is among the ``signatures`` of the module."""
    return [] if names_function(signatures, UNWIND_RESUME) else [f"declare void {UNWIND_RESUME}(ptr)"]
