"""A view of one instruction of a block: its result, operation, operands and successors.

A view refers to the text of its block and is parsed when a property is read: of most instructions of a
large module only the opcode is ever read.  Nothing is ever printed from a view, so that an instruction
that does not change is emitted byte for byte as it was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

from trodden.native.ir.syntax.calls import CallParts, bundle_operands, read_arguments, read_call
from trodden.native.ir.syntax.grammar import (
    ATTACHMENT,
    ATTACHMENTS,
    DIRECT_CALLEE,
    INSTRUCTION,
    LOCAL_USE,
    PREDICATE,
    SIMPLE_PAIR,
    SUCCESSOR,
    SWITCH_CASE,
    TYPED_VALUE,
)
from trodden.native.ir.syntax.nesting import closing, enclosed
from trodden.native.ir.syntax.opcodes import BINARY, CALLS, COMPARISONS, FLAGS, TERMINATORS
from trodden.native.ir.syntax.operands import Operand, phi_incoming, read_operands, typed_value
from trodden.native.ir.syntax.result_type import result_type
from trodden.native.ir.syntax.terminators import labels_start

_NO_VALUE = frozenset({"void", "token", "metadata", "label"})


class Instruction:
    """One instruction.

    ``result`` is the name of the value that it defines (as printed, without its prefix); ``tail`` is the
    marker of a call: ``tail``, ``musttail``, ``notail`` or nothing.
    """

    __slots__ = (
        *("_attachments_start", "_call", "_direct", "_match", "_operands", "_phi"),
        *("opcode", "result", "tail"),
    )

    def __init__(self, match: re.Match[str]) -> None:
        self._match = match
        self.result: str | None
        self.tail: str | None
        self.opcode: str
        self.result, self.tail, self.opcode = match.groups()
        # The other attributes are set when they are first read.
        self._call: CallParts | None
        self._direct: re.Match[str] | None
        self._operands: tuple[Operand, ...]
        self._phi: tuple[str, tuple[tuple[str, str], ...], int]
        self._attachments_start: int

    def __repr__(self) -> str:
        return f"Instruction({self.text!r})"

    @property
    def source(self) -> str:
        """The text of its block."""
        return self._match.string

    @property
    def start(self) -> int:
        """Where its lines start in the text of its block."""
        return self._match.start()

    @property
    def end(self) -> int:
        """Where its lines end, the final newline excluded."""
        return self._match.end()

    @property
    def _rest_at(self) -> int:
        return self._match.end(3) + 1

    @property
    def text(self) -> str:
        """All its lines."""
        return self._match.group()

    @property
    def rest(self) -> str:
        """What follows the opcode, without the metadata attachments."""
        return self.source[self._rest_at : self.attachments_start]

    # What it is.

    @property
    def is_call(self) -> bool:
        """Whether it is a call: also one that ends its block."""
        return self.opcode in CALLS

    @property
    def is_phi(self) -> bool:
        """Whether it is a phi."""
        return self.opcode == "phi"

    @property
    def is_volatile(self) -> bool:
        """Whether it is an access to volatile memory."""
        return "volatile" in self.flags

    @property
    def names_global(self) -> bool:
        """Whether a global identifier occurs in it."""
        return "@" in self.text

    @property
    def flags(self) -> tuple[str, ...]:
        """The words before the first type that modify the operation: ``nsw``, ``volatile``, ``fast``."""
        return tuple(takewhile(FLAGS.__contains__, self.rest.split(" ")))

    @property
    def predicate(self) -> str | None:
        """The predicate of a comparison."""
        if self.opcode not in COMPARISONS:
            return None
        match = PREDICATE.match(self.source, self._rest_at)
        return None if match is None else match.group(1)

    @property
    def condition(self) -> str | None:
        """The local value that a conditional branch or a switch depends on."""
        if self.opcode not in ("br", "switch"):
            return None
        simple = TYPED_VALUE.match(self.source, self._rest_at, self.end)
        operand = typed_value(self.rest) if simple is None else Operand(*simple.groups())
        return None if operand is None or operand.type == "label" else operand.local

    @property
    def type(self) -> str | None:
        """The type of its result; None if it has none, or one that the text does not determine."""
        if self.opcode in CALLS:
            call = self.call
            found = None if call is None else call.type
        else:
            found = result_type(self.opcode, self.rest, lambda: self.operands)
        return None if found in _NO_VALUE else found

    # What it uses.

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Its operands in the order of the text; of a call the arguments, then the bundles' and the callee.

        The blocks of a phi and the constants of a switch are no operands, nor is the size of an ``alloca``
        that is not printed.
        """
        try:
            return self._operands
        except AttributeError:
            self._operands = self._read_operands()
            return self._operands

    @property
    def uses(self) -> tuple[str, ...]:
        """The local names that occur in it, each as often as it does: values, labels and named types."""
        rest = self.rest
        return tuple(name for name in LOCAL_USE.findall(rest) if name) if "%" in rest else ()

    @property
    def incoming(self) -> tuple[tuple[str, str], ...]:
        """Of a phi: the values as printed, each with the label of its predecessor."""
        return self._phi_parts()[1] if self.opcode == "phi" else ()

    @property
    def phi_type(self) -> str:
        """Of a phi: its type, with the flags before it."""
        return self._phi_parts()[0] if self.opcode == "phi" else ""

    # Where control goes.

    @property
    def successors(self) -> tuple[str, ...]:
        """Of a terminator: the labels that it can go to, one for each edge."""
        if self.opcode not in TERMINATORS:
            return ()
        labels_at = labels_start(self.source, self.opcode, self.start, self.end)
        return tuple(SUCCESSOR.findall(self.source, labels_at, self.end))

    @property
    def unwinds_to_caller(self) -> bool:
        """Whether an exception leaves the function from here without another call."""
        return self.opcode == "resume" or self.rest.endswith("unwind to caller")

    @property
    def cases(self) -> tuple[tuple[str, str], ...]:
        """Of a switch: the constants and the labels of its cases, the default excluded."""
        if self.opcode != "switch":
            return ()
        return tuple((value, label) for _, value, label in SWITCH_CASE.findall(self.rest))

    # Calls.

    @property
    def call(self) -> CallParts | None:
        """A call taken apart; None if this is none."""
        try:
            return self._call
        except AttributeError:
            self._call = read_call(self.rest) if self.opcode in CALLS else None
            return self._call

    @property
    def has_token(self) -> bool:
        """Whether a call returns a token, or uses one."""
        if "token" not in self.text or self.call is None:
            return False
        return self.call.type == "token" or any(operand.type == "token" for operand in self.operands)

    @property
    def callee(self) -> str | None:
        """The function that is called (as printed, without its prefix); None for an indirect call."""
        if self.opcode not in CALLS:
            return None
        direct = self._direct_callee()
        if direct is not None:
            return direct.group(1)
        call = self.call
        return call.callee[1:] if call is not None and call.callee and call.callee[0] == "@" else None

    @property
    def assembly(self) -> tuple[str, str] | None:
        """Of a call of inline assembly: its template and constraints, as printed."""
        return None if self.callee is not None or self.call is None else self.call.assembly

    @property
    def arguments(self) -> tuple[Operand, ...]:
        """The arguments of a call."""
        return read_arguments(self.argument_list)

    @property
    def argument_list(self) -> str:
        """The text between the brackets of a call."""
        direct = self._direct_callee() if self.opcode in CALLS else None
        if direct is not None:
            return enclosed(self.source, direct.end() - 1)
        call = self.call
        return "" if call is None else self.rest[call.arguments_start : call.arguments_end]

    @property
    def attribute_group(self) -> str | None:
        """The number of the attribute group of a call site."""
        return next((word[1:] for word in self.attributes if word.startswith("#")), None)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of a call site, as printed: words, and the numbers of groups (``#7``)."""
        direct = self._direct_callee() if self.opcode == "call" else None
        if direct is not None and not self.source.endswith("]", self.start, self.attachments_start):
            bracket = closing(self.source, direct.end() - 1) or self.end
            return tuple(self.source[bracket : self.attachments_start].split())
        call = self.call
        return () if call is None else call.attributes

    # Metadata.

    @property
    def attachments(self) -> Mapping[str, str]:
        """The metadata attachments: kinds, and the numbers of nodes."""
        return dict(ATTACHMENT.findall(self.source, self.attachments_start, self.end))

    @property
    def attachment_text(self) -> str:
        """The metadata attachments as printed, with the comma before them."""
        return self.source[self.attachments_start : self.end]

    def attachment(self, kind: str) -> str | None:
        """The number of the node of a kind of metadata."""
        source, end = self.source, self.end
        at = source.rfind(f", !{kind} !", self._match.end(3), end)
        if at < 0 or ATTACHMENTS.match(source, at, end) is None:
            return None
        match = ATTACHMENT.match(source, at)
        return None if match is None else match.group(2)

    @property
    def attachments_start(self) -> int:
        """Where the metadata attachments start in the text of the block; the end if there are none."""
        try:
            return self._attachments_start
        except AttributeError:
            source, end = self.source, self.end
            first = source.find(", !", self._rest_at - 1, end)
            run = None if first < 0 else ATTACHMENTS.search(source, first, end)
            self._attachments_start = end if run is None else run.start()
            return self._attachments_start

    def _direct_callee(self) -> re.Match[str] | None:
        """The callee of a direct call, up to the bracket that opens the list of arguments."""
        try:
            return self._direct
        except AttributeError:
            self._direct = DIRECT_CALLEE.match(self.source, self._rest_at - 1, self.end)
            return self._direct

    def _phi_parts(self) -> tuple[str, tuple[tuple[str, str], ...], int]:
        try:
            return self._phi
        except AttributeError:
            self._phi = phi_incoming(self.rest)
            return self._phi

    def _read_operands(self) -> tuple[Operand, ...]:
        if self.opcode in BINARY or self.opcode in COMPARISONS:
            simple = SIMPLE_PAIR.match(self.source, self._rest_at, self.end)
            if simple is not None:
                type_, left, right = simple.groups()
                return Operand(type_, left), Operand(type_, right)
        if self.opcode not in CALLS:
            return read_operands(self.opcode, self.rest)
        call = self.call
        if call is None:
            return ()
        labels = tuple(Operand("label", f"%{label}") for label in self.successors)
        callee = Operand("ptr", call.callee if call.callee is not None else "asm")
        return (*self.arguments, *bundle_operands(call.bundles), callee, *labels)


def instructions_of(text: str, start: int = 0) -> Iterator[Instruction]:
    """The instructions in the text of a block, or of any whole lines, from ``start`` on."""
    return map(Instruction, INSTRUCTION.finditer(text, start))
