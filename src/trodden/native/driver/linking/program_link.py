"""Link what a command line names, and put the result where it belongs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from trodden.native.driver.atomic_output import STANDARD_OUTPUT, deliver
from trodden.native.driver.command_line import CommandLine
from trodden.native.driver.diagnostics import listen, say
from trodden.native.driver.linking.first_link import first_link
from trodden.native.driver.linking.giving_way import giving_way, names_in_conflict
from trodden.native.driver.linking.link import link_command
from trodden.native.driver.linking.linker_flags import for_embedded_linker, for_other_linker
from trodden.native.driver.linking.linker_messages import in_terms_of_sources, without_c_library
from trodden.native.driver.linking.runtime_link import with_runtime
from trodden.native.driver.runtime_build import find_runtime
from trodden.native.driver.toolchain import Toolchain, target_in

_OTHER_LINKER = (
    "the embedded toolchain (clang and lld) did not link this;"
    " --trodden-toolchain=clang links with this machine's clang, linker and libraries"
)


def link_program(
    toolchain: Toolchain, line: CommandLine, cxx: bool, objects: Sequence[Path], directory: Path
) -> int:
    """Link a program or a library with the objects of its sources; return the linker's exit status."""
    remaining = iter(objects)
    words = [str(next(remaining)) if word is None else word for word in line.link_words]
    embedded = toolchain.embedded
    words, left_out = (for_embedded_linker if embedded else for_other_linker)(words)
    if left_out:
        why = "the embedded linker makes the same without" if embedded else "call sites would go too"
        sys.stderr.write(f"trodden: {' '.join(left_out)}: ignored; {why}\n")
    words = with_runtime(toolchain, words, directory)
    output = line.output if line.output is not None else "a.out"
    # The linker may record the name in its output, so it gets the real one in another directory.
    linked = directory / "linked"
    linked.mkdir()
    made = linked / os.path.basename(output)
    sources = {str(path): source.path for path, source in zip(objects, line.sources, strict=True)}
    with first_link(toolchain, cxx, words):
        status, messages = _run_linker(toolchain, cxx, words, made, directory)
    runtime = str(find_runtime(toolchain, target_in(words)).directory) if status != 0 else ""
    if status != 0 and (needed := without_c_library(words, runtime, messages)):
        say(f"trodden: {needed}\n")
        return status
    say(in_terms_of_sources(messages, sources))
    if status != 0:
        if embedded:
            sys.stderr.write(f"trodden: {_OTHER_LINKER}\n")
    # A linker that was only asked for its version (-Wl,--version) has made nothing.
    elif made.exists():
        deliver(made, f"./{output}" if output == STANDARD_OUTPUT else output)
    return status


def _run_linker(
    toolchain: Toolchain, cxx: bool, words: Sequence[str], made: Path, directory: Path
) -> tuple[int, str]:
    """Link; if the program itself defines functions that are interposed, link again without these.

    A linker stops after some errors, so that this may take several links.
    """
    # The messages of other linkers are read here, too.
    environment = {**toolchain.environment, "LC_ALL": "C"}
    names: set[str] = set()
    while True:
        chosen = giving_way(toolchain, words, names, directory) if names else words
        command = link_command(toolchain, cxx, [*chosen, "-o", str(made)])
        status, messages = listen(command, environment)
        more = names_in_conflict(toolchain, words, messages) - names if status != 0 else set()
        if not more:
            return status, messages
        names |= more
