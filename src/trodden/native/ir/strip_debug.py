"""Take debug information out of IR text: locations, records, variables and their metadata."""

from __future__ import annotations

from trodden.native.ir.module import IRModule
from trodden.native.ir.syntax.grammar import (
    CALL_LINE,
    COMPILE_UNITS,
    DEBUG_ATTACHMENT,
    DEBUG_NODE_LINE,
    DEBUG_RECORD_LINE,
    DECLARED_SUBPROGRAM,
    LOCATED_CALL,
    LOCATED_CALL_OR_INVOKE,
    METADATA_REFERENCE,
)
from trodden.native.ir.syntax.header import FunctionHeader

_FILLER = '!{!"trodden.gone"}'


def strip_code(text: str) -> str:
    """Instructions (whole lines) without debug locations, and without debug records among them."""
    text = DEBUG_ATTACHMENT.sub("", text)
    return DEBUG_RECORD_LINE.sub("", text) if "    #dbg" in text else text


def strip_code_but_calls(text: str, location: str, all_calls: bool) -> str:
    """The same, except that calls get another location: those that had one, or ``all_calls``."""
    attachment = f", !dbg !{location}"
    if all_calls:
        return CALL_LINE.sub(rf"\g<0>{attachment}", strip_code(text))
    pattern = LOCATED_CALL_OR_INVOKE if "          to label " in text else LOCATED_CALL
    pieces: list[str] = []
    position = 0
    for call in pattern.finditer(text):
        pieces += [strip_code(text[position : call.start(1)]), attachment]
        position = call.end()
    pieces.append(strip_code(text[position:]))
    return "".join(pieces)


def strip_definition(definition: str) -> str:
    """A function without debug information."""
    end = definition.index("\n")
    header = FunctionHeader(definition[:end]).replace_subprogram(None)
    return header + strip_code(definition[end:])


def strip_declarations(module: IRModule) -> None:
    """Take the debug information out of a module's globals, declarations and metadata.

    Other metadata, that of loops, may refer to locations; those are replaced by a node without meaning.
    """
    module.between = [_without_subprograms(text) for text in module.between]
    module.prologue = _without_subprograms(module.prologue)
    dropped = set(DEBUG_NODE_LINE.findall(module.epilogue))
    remaining = COMPILE_UNITS.sub("", DEBUG_NODE_LINE.sub("", module.epilogue))
    referenced = set(METADATA_REFERENCE.findall(remaining)) & dropped
    fillers = "".join(f"!{number} = {_FILLER}\n" for number in sorted(referenced, key=int))
    module.epilogue = remaining + fillers


def _without_subprograms(text: str) -> str:
    return DECLARED_SUBPROGRAM.sub("", DEBUG_ATTACHMENT.sub("", text)) if "!dbg" in text else text
