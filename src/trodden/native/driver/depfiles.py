"""Dependency files for make are named after the real output, not after an intermediate file.

``-MMD`` and similar flags write the headers that a source includes to a file.  Without ``-MF`` and ``-MT``
the compiler derives file name and target from its output, which is a temporary file here, so both are passed
to it.
"""

from __future__ import annotations

import os

from trodden.native.driver.command_line import CommandLine, Source, Step


def dependency_flags(line: CommandLine, source: Source) -> list[str]:
    """The flags with the names that the compiler would have chosen for the real output."""
    words = [part for flag in line.compile_flags for part in _parts(flag)]
    if "-MD" not in words and "-MMD" not in words:
        return []
    stem = os.path.splitext(os.path.basename(source.path))[0]
    named = line.output
    if named is not None and line.step is Step.LINK and len(line.sources) > 1:
        # Several sources with one output: each gets a dependency file of its own, so that none is lost.
        named = f"{os.path.splitext(named)[0]}-{stem}.o"
    extra = []
    through_preprocessor = any(flag.startswith("-Wp,-M") for flag in line.compile_flags)
    if not through_preprocessor and not any(word.startswith("-MF") for word in words):
        extra += ["-MF", f"{stem if named is None else os.path.splitext(named)[0]}.d"]
    if not any(word.startswith(("-MT", "-MQ")) for word in words):
        extra += ["-MQ", line.output if line.output is not None else f"{stem}.o"]
    return extra


def _parts(flag: str) -> list[str]:
    return flag.split(",")[1:] if flag.startswith("-Wp,") else [flag]
