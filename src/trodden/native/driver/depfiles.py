"""Dependency files for make are named after the real output, not after the bitcode in between.

``-MMD`` and its kin say which headers a source used; without ``-MF`` and ``-MT`` the compiler takes both
names from its output, which is a temporary file of ours, so they are given to it here.
"""

from __future__ import annotations

import os

from trodden.native.driver.command_line import CommandLine, Source, Step


def dependency_flags(line: CommandLine, source: Source) -> list[str]:
    """The names that the compiler would have chosen by itself."""
    words = [part for flag in line.compile_flags for part in _parts(flag)]
    if "-MD" not in words and "-MMD" not in words:
        return []
    stem = os.path.splitext(os.path.basename(source.path))[0]
    named = line.output
    if named is not None and line.step is Step.LINK and len(line.sources) > 1:
        # One output of several sources: each gets a file of its own, so that none is lost.
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
