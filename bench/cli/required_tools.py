"""What has to be installed before anything is fetched: only what the tables in question need."""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.compile import CLANG
from bench.build.configurations import compilers
from bench.measures.model import Measure
from bench.suite.model import SuiteProgram
from bench.support.directories import WORK

# pip comes with the environment that the bench runs in.
_CLIENTS = {"apt": "apt-get", "npm": "npm"}


def needed(measures: Sequence[Measure], programs: Sequence[SuiteProgram]) -> set[str]:
    """The tools that it takes to measure some programs."""
    ways = {way for measure in measures for way in measure.ways}
    tools = {tool for measure in measures for tool in measure.tools}
    cxx = any(program.recipe.language == "C++" for program in programs)
    # Whatever is configured is configured by clang, however it is built then.
    return {CLANG, "make"} | compilers(sorted(ways), cxx) | tools | _clients(programs)


def _clients(programs: Sequence[SuiteProgram]) -> set[str]:
    """The package clients that fetch what is not there yet."""
    archives = [archive for program in programs if (archive := program.recipe.archive) is not None]
    missing = {each.client for each in archives if not (WORK / "archives" / each.file).is_file()}
    return {_CLIENTS[client] for client in missing if client in _CLIENTS}
