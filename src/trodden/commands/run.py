"""``trodden run``: build if need be, run, and leave a profile behind.

``trodden run [options] prog.c [compiler flags] -- [arguments]`` compiles first.  ``trodden run [options]
COMMAND [arguments]`` does not: any command is run, and what its processes have executed of instrumented
programs and libraries is collected.  The report goes to the terminal only: the program's own output is left
as it is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trodden.api import runs
from trodden.errors import NotInstrumented, UsageError
from trodden.native.driver.command_line import CommandLine, Step, is_linkable, is_source, last_step
from trodden.native.execute.counting import process_of
from trodden.native.execute.launch import Ended
from trodden.native.execute.rundir import abandoned, unmentioned
from trodden.native.execute.trace_size import WHOLE, TraceSize, trace_size
from trodden.native.options.given import Given, VerbFlags, value_of
from trodden.visible_text import visible
from trodden.waiting import Quiet

_OTHER_FLAGS = ("output", "report", "quiet", "wait", "preload", "trace-limit", "trace-ring", "target", "help")


@dataclass
class Request:
    """What the command line asks for: options, a compiler's words or a program, and its arguments.

    ``asked`` says that a profile or a report was asked for by name, so that it is an error if there is none.
    """

    output: str = "trodden.trod"
    asked: bool = False
    flags: list[Given] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    from_source: bool = False
    report: bool | None = None
    wait: bool = False
    preload: bool = False
    limit: str | None = None
    ring: str | None = None
    size: TraceSize = WHOLE


def main(argv: Sequence[str]) -> int:
    """Run a command line; return the exit status, which is the program's."""
    if not argv or argv[0] in ("-h", "--help"):
        from trodden.commands.usage import run_usage

        sys.stdout.write(run_usage())
        return 0 if argv else UsageError.status
    request = parse(argv)
    request.size = trace_size(request.limit, request.ring)
    Quiet.asked = request.report is False
    if not request.from_source:
        if request.flags:
            setting, program = request.flags[0].setting, request.words[0]
            raise UsageError(f"{setting}: is for sources; {program} is run as it is, with the probes it has")
        return _run(request, request.words[0])()
    from trodden.api.builds import builder
    from trodden.native.driver.atomic_output import scratch

    with scratch() as directory:
        program = str(directory / runs.program_name(request.words))
        build = builder([*request.words, "-o", program], runs.is_cxx(request.words), request.flags)
        _check_words(request, build.line)
        request.size.need_traces(build.options.traces)
        build.watched = True
        status = build.run()
        if status:
            return status
        request.asked = True
        leave = _run(request, program)
    return leave()


def parse(argv: Sequence[str]) -> Request:
    """Separate our own options, the compiler's words and the program's arguments."""
    request = Request()
    flags = VerbFlags("run", _OTHER_FLAGS)
    following = iter(argv)
    for word in following:
        if word == "--":
            if not request.from_source:
                _take_command(request, list(following))
                return request
            request.arguments = list(following)
        elif word in ("-o", "--output"):
            request.output, request.asked = value_of(word, following, "run"), True
        elif word.startswith("--output="):
            request.output, request.asked = word.partition("=")[2], True
        elif word in ("--report", "--quiet", "-q"):
            request.report = word == "--report"
            request.asked = request.asked or request.report
        elif word == "--wait":
            request.wait = True
        elif word == "--preload":
            request.preload = True
        elif word.partition("=")[0] in ("--trace-limit", "--trace-ring"):
            name, equals, size = word.partition("=")
            size = size if equals else value_of(word, following, "run")
            if name == "--trace-limit":
                request.limit = size
            else:
                request.ring = size
        elif word == "--target":
            request.words += ["-target", value_of(word, following, "run")]
        elif word in ("-h", "--help") and request.from_source:
            command = f"trodden run {shlex.join(request.words)} -- {word}"
            raise UsageError(
                f"{word}: arguments of the program go after --: {command};"
                " for the usage of trodden: trodden run --help"
            )
        elif word.startswith("-x"):
            # A language makes a source of any file, and of standard input.
            request.words += [word] if word != "-x" else [word, value_of(word, following, "run")]
            request.from_source = True
        elif (option := flags.take(word, following)) is not None:
            request.flags.append(option)
        elif not request.from_source and not word.startswith("-") and not is_source(word):
            _take_command(request, [word, *following])
            return request
        else:
            request.from_source = request.from_source or is_source(word)
            request.words.append(word)
    if not request.from_source:
        raise UsageError("no source file and no program given; see trodden run --help")
    return request


def _take_command(request: Request, command: Sequence[str]) -> None:
    """Everything from the first word that is no option on: the command and its arguments."""
    if request.words:
        word = command[0] if command else "--"
        raise UsageError(f"{word}: name the sources first, or only a program; see trodden run --help")
    if not command:
        raise UsageError("--: no program follows; see trodden run --help")
    request.words.append(command[0])
    request.arguments = list(command[1:])


def _check_words(request: Request, line: CommandLine) -> None:
    """Refuse what a compiler would take, but what is most likely meant for the program."""
    own = shlex.join(word for word in request.words if word not in line.objects)
    for word in line.objects:
        if not is_linkable(word):
            missing = "" if os.path.exists(word) else " no such file, and"
            raise UsageError(
                f"{word}:{missing} no source, object or library; arguments of the program go after --:"
                f" trodden run {own} -- {shlex.join(line.objects)}"
            )
    if line.step is not Step.LINK:
        flag = next(word for word in request.words if last_step([word]) is not Step.LINK)
        raise UsageError(
            f"{flag}: makes no program that could be run; use trodden cc, or put arguments of the program"
            " after --"
        )


def _run(request: Request, program: str) -> Callable[[], int]:
    """Run, and write the profile; the result ends this process as the program ended, or returns a status."""
    from trodden.profile.store.files import check_writable

    runs.find_command(program)
    check_writable(request.output)
    if request.report is not False:
        _report_abandoned()
    ended = runs.launch_command(program, request.arguments, request.wait, request.preload, request.size)
    if ended.running:
        _report_running(ended, program if request.from_source else None)
    if not ended.raws:
        return _without_counts(request, ended, program)
    name = shlex.join(request.words) if request.from_source else None
    collected = runs.profile_of(ended, [program, *request.arguments], request.output, name, request.size)
    for message in runs.no_trace(request.size, collected.profile):
        _say(message)
    for message in collected.left_out.messages:
        _say(message)
    if request.report or (request.report is None and sys.stderr.isatty()):
        from trodden.report.render.brief import print_summary

        print_summary(collected.profile, request.output)
    return ended.leave


def _without_counts(request: Request, ended: Ended, program: str) -> Callable[[], int]:
    """The command ends as it did; but sources were built to have counts, and a profile may be asked for."""
    message = runs.no_counts(ended, program)
    if os.path.exists(request.output):
        message += f" ({request.output} is that of an earlier run)"
    ended.clear()
    if (request.from_source and ended.status > 0) or (request.asked and not ended.status):
        raise NotInstrumented(message)
    _say(message)
    return ended.leave


def _say(text: str) -> None:
    print(f"trodden: {visible(text)}", file=sys.stderr, flush=True)


def _report_abandoned() -> None:
    """At a terminal, name directories of earlier runs whose counts were never collected, each once."""
    left = unmentioned(abandoned()) if sys.stderr.isatty() else []
    if left:
        names = shlex.join(map(str, left))
        _say(
            f"counts of {len(left):,} earlier run{'s' * (len(left) > 1)} that did not finish:"
            f" trodden collect {names} -o FILE.trod makes a profile of them, rm -r {names} removes them"
        )


def _report_running(ended: Ended, program: str | None) -> None:
    """Name processes that are still running; a program that is about to be removed is kept for them."""
    more = ""
    if program is not None:
        kept = ended.directory / os.path.basename(program)
        shutil.copy2(program, kept)
        more = f" --program {kept}"
    numbers = ", ".join(str(process_of(raw)) for raw in ended.running)
    then = f"trodden collect {ended.directory}{more} -o FILE.trod"
    _say(f"process {numbers}: still running; at its end: {then}")
