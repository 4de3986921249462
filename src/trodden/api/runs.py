"""Runs: build a program if need be, execute it, and make a profile of what it counted."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from trodden.errors import BuildFailed, InputMissing, NotInstrumented, TroddenError
from trodden.native.driver.command_line import is_source, names_sources, parse
from trodden.native.execute.trace_size import WHOLE, TraceSize, trace_size
from trodden.waiting import waiting

if TYPE_CHECKING:
    from trodden.api.profiles import StrPath
    from trodden.native.execute.launch import Ended
    from trodden.native.options.declarations import (
        CounterScheme,
        CuttingRule,
        Encoding,
        Metric,
        ProfileKind,
        Stage,
    )
    from trodden.profile.from_runs import Collected
    from trodden.profile.model import Profile


@dataclass(frozen=True)
class Run:
    """A finished run: the program's exit status (negative: the signal that ended it) and its profile."""

    status: int
    profile: Profile


def run(
    *program: StrPath | Sequence[StrPath],
    args: Sequence[str] = (),
    profile: ProfileKind | None = None,
    trace: Encoding | None = None,
    counters: CounterScheme | None = None,
    stage: Stage | None = None,
    weights: StrPath | None = None,
    only: str | Sequence[str] = (),
    leave: str | Sequence[str] = (),
    toolchain: str | None = None,
    max_paths: int | str | None = None,
    context: bool | None = None,
    metric: Metric | None = None,
    cut_by: CuttingRule | None = None,
    overlap: int | str | None = None,
    pairs: int | bool | None = None,
    last: int | None = None,
    call_paths: bool | None = None,
    durable: bool | None = None,
    preload: bool = False,
    trace_limit: int | str | None = None,
    trace_ring: int | str | None = None,
    output: StrPath | None = None,
) -> Run:
    """Run a command, or sources with compiler flags, and return its status and profile.

    ``trodden.run("./app", args=["x"])`` runs what ``trodden cc`` has built; ``trodden.run("a.c", "-O2")``
    builds it first.  ``trodden.run(["make", "check"])`` runs any command, and the profile is that of all
    instrumented programs and libraries that it executes; if there is none, that is an error
    (:class:`trodden.errors.NotInstrumented`).  With ``preload`` a program without probes is started with the
    runtime, so that libraries with probes see how it ends.  The program keeps its own standard streams.
    ``output`` also writes the profile there.

    With ``profile="paths"`` every function of the profile has ``paths``; ``max_paths`` is the most that a
    function may have before some are cut (``"none"`` cuts nothing), ``context`` counts each path through a
    loop together with the path that led to it, ``metric="cycles"`` adds up the time of each, ``overlap``
    (a degree, ``"max"`` or ``"auto"``) counts a path that ends an iteration together with the start of the
    next one, ``pairs`` (``True`` or a number) in tuples with those that follow it, and ``last`` is how
    many of each thread's last paths are kept one by one. With ``profile="trace"`` what every thread
    executes is recorded, as ``trace`` says: ``trace_limit`` is how many bytes each process may record,
    ``trace_ring`` how many each thread keeps, its last ones, at least 256 KiB (``"16M"`` is 16 MiB). With
    ``call_paths`` any profile has call paths too; with ``durable`` no count is held in a register until
    its loop ends.
    An option that is ``None`` is taken from the environment, or else has its default.
    """
    from trodden.native.options.given import keywords

    chosen = {
        "profile": profile,
        "trace": trace,
        "counters": counters,
        "stage": stage,
        "weights": weights,
        "only": only,
        "leave": leave,
        "toolchain": toolchain,
        "max_paths": max_paths,
        "context": context,
        "metric": metric,
        "cut_by": cut_by,
        "overlap": overlap,
        "pairs": pairs,
        "last": last,
        "call_paths": call_paths,
        "durable": durable,
    }
    flags = keywords(chosen)
    size = trace_size(trace_limit, trace_ring)
    if len(program) == 1 and not isinstance(program[0], str | os.PathLike):
        command = [os.fspath(word) for word in program[0]]
        if not command:
            raise TroddenError("trodden.run: the command is empty")
        if flags:
            raise TroddenError(f"trodden.run: {command[0]} is not built here; name sources to choose how")
        return _run(command[0], [*command[1:], *args], output, preload, size)
    if not all(isinstance(word, str | os.PathLike) for word in program):
        raise TroddenError("trodden.run: a command is one list of words, and the only one")
    words = [os.fspath(word) for word in program if isinstance(word, str | os.PathLike)]
    if not names_sources(words):
        if len(words) != 1:
            raise TroddenError("trodden.run: name one program (its arguments go to args=) or sources")
        if flags:
            raise TroddenError(f"trodden.run: {words[0]} is built already; name sources to choose how")
        return _run(words[0], args, output, preload, size)
    from trodden.api.builds import builder
    from trodden.native.driver.atomic_output import scratch
    from trodden.native.driver.diagnostics import kept_diagnostics

    with scratch() as directory:
        built = str(directory / program_name(words))
        with kept_diagnostics() as diagnostics:
            build = builder([*words, "-o", built], is_cxx(words), flags)
            size.need_traces(build.options.traces)
            status = build.run()
        if status != 0:
            what = f"trodden.run: compiling {' '.join(words)} failed with status {status}"
            raise BuildFailed(what, "".join(diagnostics))
        return _run(built, args, output, preload, size)


def program_name(words: Sequence[str]) -> str:
    """The name of the program that the first source among a compiler's words is built into."""
    named = next((word for word in words if is_source(word)), None)
    if named is None:
        sources = parse(words, False).sources
        named = sources[0].path if sources and sources[0].path != "-" else "standard-input"
    return Path(named).stem


def is_cxx(words: Sequence[str]) -> bool:
    """Whether a C++ source is among a compiler's words, so that all have to be compiled and linked as C++."""
    forced = any(word.startswith("-x") and "c++" in word + after for word, after in pairwise([*words, ""]))
    return forced or any(is_source(word, cxx=True) for word in words)


def _run(program: str, args: Sequence[str], output: StrPath | None, preload: bool, size: TraceSize) -> Run:
    ended = launch_command(program, args, preload=preload, size=size)
    profile = profile_of(ended, [program, *args], output, size=size).profile
    return Run(ended.status, profile)


def find_command(program: str) -> str:
    """The path of a program; a name without a slash is looked up in PATH."""
    path = program if os.sep in program else shutil.which(program)
    if path is None or not os.path.exists(path):
        raise InputMissing(f"{program}: {_why_not(program)}")
    return path


def _why_not(program: str) -> str:
    """Why a name is not that of a program."""
    if not os.path.isfile(program):
        return "no such program or source"
    if os.access(program, os.X_OK):
        return f"no such program in PATH; write {os.curdir}{os.sep}{program} for the file"
    return (
        "is neither a source nor executable; name the program that reads it: trodden run PROGRAM " + program
    )


def launch_command(
    program: str,
    args: Sequence[str],
    wait: bool = False,
    preload: bool = False,
    size: TraceSize = WHOLE,
) -> Ended:
    """Run a program to its end; with ``wait``, to that of all processes that it has started.

    With ``preload``, all of them are started with the runtime (:mod:`trodden.api.preload`).  ``size`` is how
    much of their traces is kept.
    """
    from trodden.native.execute.launch import launch

    path = find_command(program)
    if not preload:
        return launch(path, args, wait, size=size)
    from trodden.api.preload import preload_library

    return launch(path, args, wait, preload_library(), size)


def no_trace(size: TraceSize, profile: Profile) -> Iterator[str]:
    """A message if ``size`` was given, but nothing that was run records a trace."""
    if size and profile.traces is None:
        yield f"{size.given}: nothing that was run records a trace; build it with --profile trace"


def profile_of(
    ended: Ended,
    command: Sequence[str],
    output: StrPath | None,
    name: str | None = None,
    size: TraceSize = WHOLE,
) -> Collected:
    """The profile of a run, also written to ``output``.

    It is called after its program, or after the whole ``command`` if that is not instrumented itself;
    ``name`` overrides both.  Then the raw files are removed.  Where no profile can be made of them, they are
    kept.
    """
    from trodden.native.execute.counting import process_of
    from trodden.profile.from_runs import Collected, collect_all
    from trodden.profile.store.trod import save

    with _kept_on_failure(ended):
        if not ended.raws:
            raise NotInstrumented(no_counts(ended, command[0]))
        with waiting(f"making a profile of {len(ended.raws):,} raw file{'s' * (len(ended.raws) > 1)}"):
            collected = collect_all(list(ended.raws))
        numbers = map(process_of, ended.running)
        running = (f"process {number} was still running; its counts are not included" for number in numbers)
        profile = replace(
            collected.profile,
            program=name or _name_of(collected.profile, command),
            messages=(
                *collected.profile.messages,
                *running,
                *no_trace(size, collected.profile),
            ),
        )
        if output is not None:
            save(profile, output)
    ended.clear()
    return Collected(profile, collected.left_out)


def _name_of(profile: Profile, command: Sequence[str]) -> str:
    """The path of the program, if it is instrumented; otherwise the command."""
    path = command[0] if os.sep in command[0] else shutil.which(command[0]) or command[0]
    own = os.path.realpath(path)
    if any(each.path == own and each.units for each in profile.programs):
        return own
    return shlex.join(command)


@contextlib.contextmanager
def _kept_on_failure(ended: Ended) -> Iterator[None]:
    """An error names the directory that still has the counts, if there are any."""
    try:
        yield
    except TroddenError as error:
        if not ended.raws:
            ended.clear()
            raise
        raise type(error)(f"{error}; the counts are kept in {ended.directory}") from error


def no_counts(ended: Ended, program: str) -> str:
    """Why there is no profile of a run that has left no counts."""
    if ended.status < 0:
        try:
            name = signal.Signals(-ended.status).name
        except ValueError:
            name = f"signal {-ended.status}"
        how = f"was ended by {name}, and"
    else:
        how = f"ended with status {ended.status}, and"
    if ended.running:
        return (
            f"{program}: {how} its counts are with those of processes that still run; no profile was written"
        )
    return (
        f"{program}: {how} no program or library with probes has left counts; no profile was written."
        " Build what it runs with trodden cc (make CC='trodden cc')"
    )
