"""The cases of ``tests/native/cases/lower-*.test``: IR in, and after ``[out]`` the IR that comes of it.

Settings are comments of the IR: ``; flags:`` are those of ``trodden cc``; ``; debug: kept`` stands for
``-g``; ``; dense:`` is how many paths may have counters in an array; ``; measured:`` are the weights of the
edges, in order; ``; show: metadata`` adds the metadata nodes that are new, ``; show: module`` shows the whole
module.  Lines that begin with ``--`` are comments of the case.

``python -m tests.native.lower.cases`` rewrites what is expected; the difference is to be read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from trodden.graph.cfg import Graph
from trodden.native.driver.command_line import parse
from trodden.native.instrument import instrument
from trodden.native.ir.llvm import check, disassemble
from trodden.native.ir.module import cut_module
from trodden.native.options.declarations import Options
from trodden.native.options.given import choose, compiler_flags
from trodden.native.planning import plan_paths
from trodden.plan.paths.limits import DENSE

DIRECTORY = Path(__file__).parents[1] / "cases"
_CASE = re.compile(r"^\[case (\w+)\]\n", re.MULTILINE)
_SETTING = re.compile(r"^; (\w+): (.*)\n", re.MULTILINE)
_SETTINGS = frozenset({"flags", "debug", "dense", "measured", "show"})
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_NODE = re.compile(r"^!.*", re.MULTILINE)
_IDENTITY = re.compile(r'(?<=\[16 x i8\] c")[^"]*')


@dataclass(frozen=True)
class Case:
    """One function or several, and what is expected."""

    file: str
    name: str
    text: str
    out: str

    def __str__(self) -> str:
        return f"{self.file}-{self.name}"

    def setting(self, name: str) -> str:
        found = {match[1]: match[2] for match in _SETTING.finditer(self.text)}
        unknown = found.keys() - _SETTINGS
        if unknown:
            raise ValueError(f"{self}: no such setting: {', '.join(sorted(unknown))}")
        return found.get(name, "")

    def options(self) -> Options:
        options = choose(compiler_flags(parse(self.setting("flags").split(), cxx=False).own), {})
        weights = [float(word) for word in self.setting("measured").split()]

        def measured(graph: Graph, _symbol: str) -> list[float]:
            return (weights + [0.0] * len(graph.edges))[: len(graph.edges)]

        return replace(options, measured=measured) if weights else options

    def lowered(self) -> str:
        """The instrumented functions, after LLVM's verifier has accepted their module."""
        given = disassemble(_SETTING.sub("", self.text).encode(), str(self))
        dense = int(self.setting("dense") or DENSE)
        with mock.patch.object(plan_paths, "DENSE", dense):
            kept = self.setting("debug") == "kept"
            text = instrument(given, "/nowhere/case.c", self.options(), kept).text
        check(text, str(self))
        if self.setting("show") == "module":
            return _IDENTITY.sub("...", text[text.index("\n\n") + 2 :]).strip()
        functions = [f for f in cut_module(text).definitions if "__trodden" not in f.partition("(")[0]]
        known = set(_NODE.findall(given))
        nodes = [node for node in _NODE.findall(text) if node not in known]
        if self.setting("show") != "metadata":
            nodes = []
        return "\n\n".join(functions) + "".join(f"\n{node}" for node in nodes)


def read(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    pieces = _CASE.split(path.read_text())
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        text, _, out = _COMMENT.sub("", body).partition("[out]\n")
        yield Case(path.stem, name, text, out.strip("\n"))


def all_cases() -> list[Case]:
    """Every case of every file."""
    return [case for path in sorted(DIRECTORY.glob("lower-*.test")) for case in read(path)]


def _rewrite(path: Path) -> None:
    text = path.read_text()
    made = {case.name: case.lowered() for case in read(path)}
    pieces = _CASE.split(text)
    kept = pieces[0]
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        before, _, _ = body.partition("[out]\n")
        kept += f"[case {name}]\n{before.rstrip()}\n[out]\n{made[name]}\n\n"
    path.write_text(kept.rstrip("\n") + "\n")


if __name__ == "__main__":
    for file in sorted(DIRECTORY.glob("lower-*.test")):
        _rewrite(file)
