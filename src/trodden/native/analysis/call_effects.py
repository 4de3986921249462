"""What a call can do besides returning: unwind, or never come back.

A block is a straight line only as long as its calls return.  One that may leave the function (exit,
longjmp, an exception) breaks the flow law at its block (BL94 §3.2), so the ground has to know which
calls are harmless; LLVM's attributes ``nounwind``, ``willreturn`` and ``noreturn`` say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trodden.native.ir.block import IRBlock
from trodden.native.ir.grammar import NAME
from trodden.native.ir.module import IRModule
from trodden.native.ir.names import unquote

_GROUP = re.compile(r"^attributes #(\d+) = \{ (.*) \}$", re.MULTILINE)
_FUNCTION = re.compile(rf"^(?:declare|define) .*?@({NAME})\((.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"\) (?:local_unnamed_addr |unnamed_addr )?#(\d+)")
_CALL = re.compile(
    rf"^  (?:%{NAME} = )?(tail |musttail |notail )?call (.*)$",
    re.MULTILINE,
)
_CALLEE = re.compile(rf"@({NAME})\(")
_SITE_GROUP = re.compile(r"\) #(\d+)")
_NOTHING = re.compile(r"(?:    #dbg.*\n|  (?:tail )?call void @llvm\.lifetime\.end.*\n)*")
_HARDLY_ANYTHING = re.compile(
    r"(?:    #dbg.*\n|  call void @llvm\.lifetime\.end.*\n|  store (?!volatile)[^@\n]*\n)*"
)
_ONCE = frozenset({"noduplicate", "convergent"})
_OF_CALLS = frozenset({"nounwind", "willreturn", "noreturn", "returns_twice"}) | _ONCE
_TABLES = frozenset({"uwtable", "uwtable(sync)"})
_INTERESTING = _OF_CALLS | _TABLES | {"cold", "naked", "noprofile", "optnone", "presplitcoroutine"}


@dataclass(frozen=True, slots=True)
class Call:
    """One call instruction: where its line starts in the block's text, and what it may do.

    ``once``: it must not be in the program in several places.
    """

    start: int
    end: int
    tail: str
    callee: str | None
    asm: bool
    may_unwind: bool
    may_stay_away: bool
    returns_twice: bool
    once: bool = False

    def ends(self, block: IRBlock, optimised: bool = True) -> bool:
        """Whether only the terminator follows it in its block (or, not yet optimised, storing its result)."""
        rest = _NOTHING if optimised else _HARDLY_ANYTHING
        return not self.asm and rest.fullmatch(block.text, self.end + 1, block.terminator_start) is not None


@dataclass
class Attributes:
    """The attribute groups of a module, as far as they tell whether a call returns."""

    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    functions: dict[str, frozenset[str]] = field(default_factory=dict)

    def of_header(self, header: str) -> frozenset[str]:
        """The attributes of the function with this ``define`` line."""
        match = _REFERENCE.search(header)
        return self.groups.get(match.group(1), frozenset()) if match else frozenset()

    def ends_in_second_return(self, block: IRBlock) -> bool:
        """Whether a block ends by invoking what may return twice, as setjmp does under a C++ destructor."""
        return "returns_twice" in self._of_invoke(block)

    def ends_once(self, block: IRBlock) -> bool:
        """Whether a block ends by invoking what must not be in the program in several places."""
        return not _ONCE.isdisjoint(self._of_invoke(block))

    def _of_invoke(self, block: IRBlock) -> frozenset[str]:
        """What is known of the function that a block ends by invoking."""
        match = _INVOKE.match(block.text, block.terminator_start)
        if match is None:
            return frozenset()
        callee, site = _CALLEE.search(match.group(1)), _SITE_GROUP.search(match.group(1))
        known = self.functions.get(unquote(callee.group(1)), frozenset()) if callee else frozenset()
        return known | (self.groups.get(site.group(1), frozenset()) if site else frozenset())

    def calls(self, block: IRBlock) -> Iterator[Call]:
        """The calls of a block, in order; intrinsics that LLVM expands in place are left out."""
        for match in _CALL.finditer(block.text):
            line = match.group(2)
            quote = line.find('"')
            asm = " asm " in (line if quote < 0 else line[:quote])
            callee_match = None if asm else _CALLEE.search(line)
            callee = unquote(callee_match.group(1)) if callee_match else None
            if callee is not None and callee.startswith("llvm."):
                continue
            known = self.functions.get(callee, frozenset()) if callee is not None else frozenset()
            site = _SITE_GROUP.search(line)
            if site is not None:
                known = known | self.groups.get(site.group(1), frozenset())
            yield Call(
                match.start(),
                match.end(),
                (match.group(1) or "").strip(),
                callee,
                asm,
                not asm and "nounwind" not in known,
                not asm and not ("nounwind" in known and "willreturn" in known),
                "returns_twice" in known,
                not _ONCE.isdisjoint(known),
            )


_INVOKE = re.compile(rf"  (?:%{NAME} = )?invoke (.*)$", re.MULTILINE)


def read_attributes(module: IRModule) -> Attributes:
    """Read the attribute groups of a module and which functions carry them."""
    attributes = Attributes()
    for number, body in _GROUP.findall(module.epilogue):
        attributes.groups[number] = _INTERESTING & set(re.sub(r'"[^"]*"(?:="[^"]*")?', "", body).split())
    for name, rest in _FUNCTION.findall(module.signatures()):
        match = _REFERENCE.search(rest)
        if match is not None:
            attributes.functions[unquote(name)] = attributes.groups.get(match.group(1), frozenset())
    return attributes
