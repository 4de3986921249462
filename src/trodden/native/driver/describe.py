"""The facts of a source, or of LLVM IR, without building it: graphs, features of branches, and plans."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trodden.errors import InputMissing, UsageError
from trodden.native.driver.atomic_output import scratch
from trodden.native.driver.build import ALREADY_INSTRUMENTED, Builder
from trodden.native.driver.command_line import parse
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.instrument import read_module
from trodden.native.ir.llvm import disassemble_apart
from trodden.native.options.declarations import Options
from trodden.program.facts import UnitFacts
from trodden.regular_files import open_regular


def facts_of_source(words: Sequence[str], options: Options) -> UnitFacts:
    """The facts of the one source among ``words``, compiled with the flags beside it.

    :class:`trodden.native.driver.build.CompilerFailed` is raised if it cannot be compiled.
    """
    line = parse(words, cxx=False)
    if len(line.sources) != 1:
        others = " ".join(source.path for source in line.sources[1:]) or words[0]
        raise UsageError(f"{others}: only flags go after --; name sources before it")
    source = line.sources[0]
    builder = Builder(find_toolchain(options.toolchain), options, line, source.cxx)
    with scratch() as directory:
        return builder.facts(source, directory)


def facts_of_ir(path: str, options: Options) -> UnitFacts:
    """The facts of a module in a file of bitcode or text, without optimising it."""
    try:
        with open_regular(path) as stream:
            given = stream.read()
    except OSError as error:
        raise InputMissing(f"{path}: cannot be read: {error.strerror}") from error
    text = disassemble_apart(given, path)
    if ALREADY_INSTRUMENTED in text:
        raise UsageError(f"{path}: has probes already; name the IR without them, or the program")
    return read_module(text, os.path.abspath(path), options)
