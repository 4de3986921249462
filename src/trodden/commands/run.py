"""``trodden run``: compile if need be, run, and write the profile of what was walked.

``trodden run [options] prog.c [more.c ...] [compiler flags] -- [arguments]`` or
``trodden run [options] ./app [arguments]``.  The report goes to the terminal only: the program's own
output is left exactly as it is.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trodden.errors import InputMissing, NotInstrumented, UsageError
from trodden.native.launch import Ended, launch
from trodden.profile.model import Profile

USAGE = """usage: trodden run [options] prog.c [more.c ...] [compiler flags] -- [program arguments]
       trodden run [options] ./instrumented-program [program arguments]

options:
  -o FILE                 the profile to write (default trodden.trod)
  --profile KIND          edges (default) or blocks
  --counters SCHEME       edges, blocks-by-edges, blocks-by-blocks, every-block or every-edge
  --stage STAGE           late (default): the program that really runs; early: the source as it was written
  --weights FILE.trod     place counters by what an earlier run measured
  --only GLOB             profile only these functions or files (repeat)
  --leave GLOB            leave out these functions or files (repeat)
  --toolchain NAME        embedded (default), clang, or the path of a clang
  --target TRIPLE         compile for another machine
  --report / --quiet      print the report always / never (default: when standard error is a terminal)
"""
_VALUED = ("profile", "counters", "stage", "weights", "only", "leave", "toolchain")
_SOURCES = (".c", ".i", ".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", ".ii", ".ll", ".bc")


@dataclass
class Request:
    """What the command line asks for."""

    output: str = "trodden.trod"
    own: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    from_source: bool = False
    report: bool | None = None


def main(argv: Sequence[str]) -> int:
    """Run a command line; answer the exit status, which is the program's."""
    if not argv or argv[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0 if argv else UsageError.status
    request = parse(argv)
    if not request.from_source:
        return _run(request, request.words[0], request.arguments)
    from trodden.native.deliver import scratch

    with scratch() as directory:
        program = directory / _program_name(request.words)
        status = _compile(request, program)
        return status if status else _run(request, str(program), request.arguments)


def parse(argv: Sequence[str]) -> Request:
    """Tell our own options, the compiler's words and the program's arguments apart."""
    request = Request()
    position = 0
    while position < len(argv):
        word = argv[position]
        position += 1
        if word == "--":
            request.arguments = list(argv[position:])
            break
        if word in ("-o", "--output") or word.startswith("--output="):
            if "=" in word:
                request.output = word.partition("=")[2]
            elif position < len(argv):
                request.output = argv[position]
                position += 1
            else:
                raise UsageError("-o needs the name of the profile to write")
        elif word in ("--report", "--quiet", "-q"):
            request.report = word == "--report"
        elif _own(word) is not None:
            name, value = _own(word) or ("", None)
            if value is None:
                if position >= len(argv):
                    raise UsageError(f"--{name} needs a value; see trodden run --help")
                value = argv[position]
                position += 1
            request.own.append(f"--trodden-{name}={value}")
        elif word == "--target" and position < len(argv):
            request.words += ["-target", argv[position]]
            position += 1
        elif not request.from_source and not word.startswith("-") and not word.endswith(_SOURCES):
            if request.words:
                raise UsageError(f"{word}: name the sources first, or only a program; see trodden run --help")
            request.words.append(word)
            request.arguments = list(argv[position:])
            return request
        else:
            request.from_source = request.from_source or word.endswith(_SOURCES)
            request.words.append(word)
    if not request.from_source:
        raise UsageError("no source file and no program given; see trodden run --help")
    return request


def _own(word: str) -> tuple[str, str | None] | None:
    for name in _VALUED:
        if word == f"--{name}":
            return name, None
        if word.startswith(f"--{name}="):
            return name, word.partition("=")[2]
    return None


def _program_name(words: Sequence[str]) -> str:
    first = next(word for word in words if word.endswith(_SOURCES))
    return os.path.splitext(os.path.basename(first))[0]


def _compile(request: Request, program: Path) -> int:
    from trodden.commands import cc

    endings = {os.path.splitext(word)[1] for word in request.words if word.endswith(_SOURCES)}
    cxx = not endings <= {".c", ".i", ".ll", ".bc"}
    return cc.main([*request.own, *request.words, "-o", str(program)], cxx=cxx)


def _run(request: Request, program: str, arguments: Sequence[str]) -> int:
    from trodden.profile.program import read_program

    path = program if os.sep in program else shutil.which(program) or program
    if not os.path.exists(path):
        raise InputMissing(f"{program}: no such program or source")
    read_program(path)
    ended = launch(path, arguments)
    try:
        profile = gather(ended, path)
        _store(profile, request)
    finally:
        shutil.rmtree(ended.directory, ignore_errors=True)
    if request.report or (request.report is None and sys.stderr.isatty()):
        from trodden.report.terminal import print_summary

        print_summary(profile, request.output)
    return ended.leave()


def gather(ended: Ended, program: str) -> Profile:
    """The profile of everything that a run left behind."""
    from trodden.profile.collect import collect

    if not ended.raws:
        how = f"signal {-ended.status}" if ended.status < 0 else f"status {ended.status}"
        raise NotInstrumented(f"{program}: ended with {how} and left no counts; nothing was written")
    return collect(list(ended.raws))


def _store(profile: Profile, request: Request) -> None:
    from trodden.profile.store import save

    save(profile, request.output)
