"""What is known of a source before it ever runs: its graphs, weights and probes."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.errors import UsageError
from trodden.native.build import Builder, CompilerFailed
from trodden.native.cmdline import parse
from trodden.native.deliver import scratch
from trodden.native.options import Options
from trodden.native.toolchain import find_toolchain
from trodden.profile.model import UnitFacts


def facts_of_source(words: Sequence[str], options: Options) -> UnitFacts:
    """The facts of the one source among ``words``, compiled with the flags beside it."""
    line = parse(words, cxx=False)
    if len(line.sources) != 1:
        raise UsageError("name one source file")
    source = line.sources[0]
    builder = Builder(find_toolchain(None), options, line, source.cxx)
    with scratch() as directory:
        try:
            return builder.facts(source, directory)
        except CompilerFailed as failure:
            # The compiler has said what is wrong; there is nothing to add but its status.
            raise SystemExit(failure.status) from failure
