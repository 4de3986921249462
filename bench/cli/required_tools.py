"""The tools that have to be installed before anything is fetched: only those that the measures need."""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.configurations import compilers
from bench.build.toolchain import CLANG
from bench.measures.model import Measure
from bench.suite.model import SuiteProgram
from bench.support.directories import WORK

# pip is part of the environment that the benchmark runs in.
_CLIENTS = {"apt": "apt-get", "npm": "npm"}


def required_tools(measures: Sequence[Measure], programs: Sequence[SuiteProgram]) -> set[str]:
    """The tools that are necessary to measure some programs."""
    configs = {config for measure in measures for config in measure.configs}
    tools = {tool for measure in measures for tool in measure.tools}
    cxx = any(program.source.language == "C++" for program in programs)
    # Packages are configured by clang, whatever they are built with.
    return {CLANG, "make"} | compilers(sorted(configs), cxx) | tools | _clients(programs)


def _clients(programs: Sequence[SuiteProgram]) -> set[str]:
    """The package clients that fetch what has not been fetched yet."""
    archives = [archive for program in programs if (archive := program.source.archive) is not None]
    missing = {each.client for each in archives if not (WORK / "archives" / each.file).is_file()}
    return {_CLIENTS[client] for client in missing if client in _CLIENTS}
