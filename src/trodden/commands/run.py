"""``trodden run``: compile if need be, run, and write the profile of what was walked.

``trodden run [options] prog.c [more.c ...] [compiler flags] -- [arguments]`` or
``trodden run [options] ./app [arguments]``.  The report goes to the terminal only: the program's own
output is left exactly as it is.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trodden.errors import InputMissing, NotInstrumented, TroddenError, UsageError
from trodden.native.driver.command_line import is_source
from trodden.native.execute.launch import Ended, launch
from trodden.native.execute.rundir import abandoned, process_of
from trodden.profile.model import Profile

USAGE = """usage: trodden run [options] prog.c [more.c ...] [compiler flags] -- [program arguments]
       trodden run [options] ./instrumented-program [program arguments]

options:
  -o FILE                 the profile to write (default trodden.trod)
  --profile KIND          edges (default), blocks, paths or off
  --counters SCHEME       edges, blocks-by-edges, blocks-by-blocks, every-block, every-edge or checked
  --stage STAGE           late (default): the program that really runs; early: the source as it was written
  --max-paths N           most paths a function may have before some are cut; none: cut nothing
  --context               paths through a loop together with the path that led to it
  --metric cycles         the time spent on each path, beside its count
  --cut-by RULE           how cuts are chosen: cheapest (default), loops, or node
  --last N                also the last N paths of each thread, one by one
  --call-paths            also the paths of calls that led to each function, and how often
  --durable               no count waits in a register for its loop to end: none is lost to SIGKILL
  --weights FILE.trod     place counters by what an earlier run measured; or estimate: by where control is
                          likely to go; or nesting: by how deep loops are nested (default)
  --only GLOB             profile only these functions or files (repeat)
  --leave GLOB            leave out these functions or files (repeat)
  --toolchain NAME        embedded (default), clang, or the path of a clang
  --target TRIPLE         compile for another machine
  --wait                  wait for all processes that the program has started, not only for the program
  --report / --quiet      print the report always / never (default: when standard error is a terminal)
"""
_VALUED = (
    *("profile", "counters", "stage", "weights", "only", "leave", "toolchain"),
    *("max-paths", "metric", "cut-by", "last"),
)


@dataclass
class Request:
    """What the command line asks for."""

    output: str = "trodden.trod"
    own: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    from_source: bool = False
    report: bool | None = None
    wait: bool = False


def main(argv: Sequence[str]) -> int:
    """Run a command line; answer the exit status, which is the program's."""
    if not argv or argv[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0 if argv else UsageError.status
    request = parse(argv)
    if not request.from_source:
        if request.own:
            given = request.own[0].replace("--trodden-", "--")
            raise UsageError(f"{given}: is for building; {request.words[0]} is built already")
        return _run(request, request.words[0], request.arguments).leave()
    from trodden.native.driver.atomic_output import scratch

    with scratch() as directory:
        program = directory / _program_name(request.words)
        status = _compile(request, program)
        if status:
            return status
        ended = _run(request, str(program), request.arguments)
    return ended.leave()


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
        elif word == "--wait":
            request.wait = True
        elif word in ("--context", "--call-paths", "--durable"):
            request.own.append(f"--trodden-{word[2:]}=on")
        elif own_option(word) is not None:
            name, value = own_option(word) or ("", None)
            if value is None:
                if position >= len(argv):
                    raise UsageError(f"--{name} needs a value; see trodden run --help")
                value = argv[position]
                position += 1
            request.own.append(f"--trodden-{name}={value}")
        elif word == "--target" and position < len(argv):
            request.words += ["-target", argv[position]]
            position += 1
        elif not request.from_source and not word.startswith("-") and not is_source(word):
            if request.words:
                raise UsageError(f"{word}: name the sources first, or only a program; see trodden run --help")
            request.words.append(word)
            request.arguments = list(argv[position:])
            return request
        else:
            request.from_source = request.from_source or is_source(word)
            request.words.append(word)
    if not request.from_source:
        raise UsageError("no source file and no program given; see trodden run --help")
    return request


def own_option(word: str) -> tuple[str, str | None] | None:
    """The name and value of one of our valued options; the value is None if it is the next word."""
    for name in _VALUED:
        if word == f"--{name}":
            return name, None
        if word.startswith(f"--{name}="):
            return name, word.partition("=")[2]
    return None


def _program_name(words: Sequence[str]) -> str:
    first = next(word for word in words if is_source(word))
    return os.path.splitext(os.path.basename(first))[0]


def _is_value(request: Request, word: str) -> bool:
    """Whether a word belongs to the flag before it, as in ``-x c`` or ``-D NAME``."""
    at = request.words.index(word)
    return at > 0 and request.words[at - 1].startswith("-")


def _compile(request: Request, program: Path) -> int:
    from trodden.commands import cc

    cxx = any(is_source(word, cxx=True) for word in request.words)
    for word in request.words:
        plain = not word.startswith("-") and "." not in word and not _is_value(request, word)
        if plain and not os.path.exists(word):
            raise InputMissing(f"{word}: no such file; arguments of the program go behind --")
    try:
        return cc.main([*request.own, *request.words, "-o", str(program)], cxx=cxx)
    except UsageError as error:
        # The user has called these options by the names that they have here.
        raise UsageError(str(error).replace("--trodden-", "--")) from error


def _run(request: Request, program: str, arguments: Sequence[str]) -> Ended:
    from trodden.collect.binary.program import read_program
    from trodden.profile.store.files import check_place

    path = program if os.sep in program else shutil.which(program) or program
    if not os.path.exists(path):
        raise InputMissing(f"{program}: no such program or source")
    read_program(path)
    check_place(request.output)
    tell_abandoned()
    ended = launch(path, arguments, request.wait)
    if ended.running:
        tell_running(ended, path if request.from_source else None)
    if ended.status < 0 and not ended.raws:
        # It ends as the program did, so what is missing can only be told, not be an error of ours.
        _say(_no_counts(ended, program))
        ended.clear()
        return ended
    with kept_on_failure(ended):
        profile = gather(ended, path)
        if request.from_source:
            profile = replace(profile, program=shlex.join(request.words))
        _store(profile, request)
    ended.clear()
    if request.report or (request.report is None and sys.stderr.isatty()):
        from trodden.report.render.terminal import print_summary

        print_summary(profile, request.output)
    return ended


def gather(ended: Ended, program: str) -> Profile:
    """The profile of everything that a run left behind."""
    from trodden.profile.from_runs import collect

    if not ended.raws:
        raise NotInstrumented(_no_counts(ended, program))
    profile = collect(list(ended.raws))
    running = [f"process {process_of(raw)} still ran; its counts are not in here" for raw in ended.running]
    return replace(profile, notes=(*profile.notes, *running))


def _say(text: str) -> None:
    print(f"trodden: {text}", file=sys.stderr, flush=True)


def tell_abandoned() -> None:
    """Tell a person of earlier runs whose counts nobody has fetched."""
    left = abandoned() if sys.stderr.isatty() else []
    if left:
        more = f" and {len(left) - 1:,} more of its kind" if len(left) > 1 else ""
        _say(f"{left[0]}{more}: counts of an earlier run; trodden collect it, or remove it")


def tell_running(ended: Ended, program: str | None) -> None:
    """Tell of processes that are still at work; a program that is about to be removed is kept for them."""
    more = ""
    if program is not None:
        kept = ended.directory / os.path.basename(program)
        shutil.copy2(program, kept)
        more = f" --program {kept}"
    numbers = ", ".join(str(process_of(raw)) for raw in ended.running)
    then = f"trodden collect {ended.directory}{more} -o FILE.trod"
    _say(f"process {numbers}: still running; at its end: {then}")


@contextlib.contextmanager
def kept_on_failure(ended: Ended) -> Iterator[None]:
    """Counts from which no profile could be made are still there."""
    try:
        yield
    except TroddenError as error:
        if not ended.raws:
            ended.clear()
            raise
        raise type(error)(f"{error}; the counts are kept in {ended.directory}") from error


def _no_counts(ended: Ended, program: str) -> str:
    if ended.status < 0:
        try:
            name = signal.Signals(-ended.status).name
        except ValueError:
            name = f"signal {-ended.status}"
        return f"{program}: was ended by {name}, with no time to save the counts; no profile was written"
    return f"{program}: ended with status {ended.status} and left no counts; no profile was written"


def _store(profile: Profile, request: Request) -> None:
    from trodden.profile.store.trod import save

    save(profile, request.output)
