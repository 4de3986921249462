"""LLVM IR as printed text: a module cut into functions.

llvmlite can read, verify and print IR but not insert instructions, so instrumenting means editing the
printed form.  Cutting is done with whole-text searches, not line by line, because a file of SQLite's size
has half a million lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.ir.syntax.grammar import EPILOGUE


@dataclass(slots=True)
class IRModule:
    """A module in order: globals, definitions each with what follows it, attributes and metadata."""

    prologue: str
    definitions: list[str]
    between: list[str]
    epilogue: str

    def signatures(self) -> str:
        """All declarations and the first lines of all definitions, one a line."""
        heads = [definition[: definition.index("\n")] for definition in self.definitions]
        return "\n".join([self.prologue, *self.between, *heads])

    def render(self) -> str:
        """The module's text."""
        pieces = [self.prologue]
        for definition, following in zip(self.definitions, self.between, strict=True):
            pieces += [definition, following]
        return "".join([*pieces, self.epilogue])


def cut_module(text: str) -> IRModule:
    """Cut a module into its parts."""
    definitions: list[str] = []
    between: list[str] = []
    start = 0 if text.startswith("define ") else text.find("\ndefine ") + 1
    prologue = text[:start] if start or text.startswith("define ") else text
    while start or (not definitions and text.startswith("define ")):
        end = text.index("\n}\n", start) + 2
        following = text.find("\ndefine ", end - 1) + 1
        definitions.append(text[start:end])
        between.append(text[end : following or len(text)])
        start = following
    last = between[-1] if between else prologue
    match = EPILOGUE.search(last)
    at = match.start() if match else len(last)
    if between:
        between[-1] = last[:at]
    else:
        prologue = last[:at]
    return IRModule(prologue, definitions, between, last[at:])
