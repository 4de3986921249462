"""Runs: build a program if need be, execute it, and make a profile of what it counted."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trodden.errors import NotInstrumented, TroddenError
from trodden.native.driver.command_line import is_source
from trodden.waiting import waiting

if TYPE_CHECKING:
    from trodden.api.profiles import StrPath
    from trodden.native.execute.launch import Ended
    from trodden.native.options.declarations import CounterScheme, CuttingRule, Metric, ProfileKind, Stage
    from trodden.profile.model import Profile


@dataclass(frozen=True)
class Run:
    """A finished run: the program's exit status (negative: the signal that ended it) and its profile."""

    status: int
    profile: Profile


def run(
    *program: StrPath,
    args: Sequence[str] = (),
    profile: ProfileKind | None = None,
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
    last: int | None = None,
    call_paths: bool | None = None,
    durable: bool | None = None,
    output: StrPath | None = None,
) -> Run:
    """Run an instrumented program, or sources with compiler flags, and return its status and profile.

    ``trodden.run("./app", args=["x"])`` runs what ``trodden cc`` has built; ``trodden.run("a.c", "-O2")``
    builds it first.  The program keeps its own standard streams.  ``output`` also writes the profile there.

    With ``profile="paths"`` every function of the profile has ``paths``; ``max_paths`` is the most that a
    function may have before some are cut (``"none"`` cuts nothing), ``context`` counts each path through a
    loop together with the path that led to it, ``metric="cycles"`` adds up the time of each, and ``last`` is
    how many of each thread's last paths are kept one by one.  With ``call_paths`` any profile has call paths
    too; with ``durable`` no count is held in a register until its loop ends.  An option that is ``None`` is
    taken from the environment, or else has its default.
    """
    from trodden.native.options.given import keywords

    chosen = {
        "profile": profile,
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
        "last": last,
        "call_paths": call_paths,
        "durable": durable,
    }
    flags = keywords(chosen)
    words = [os.fspath(word) for word in program]
    if not any(is_source(word) for word in words):
        if len(words) != 1:
            raise TroddenError("trodden.run: name one program (its arguments go to args=) or sources")
        if flags:
            raise TroddenError(f"trodden.run: {words[0]} is built already; name sources to choose how")
        return _run(words[0], args, output)
    from trodden.api.builds import builder
    from trodden.native.driver.atomic_output import scratch

    with scratch() as directory:
        built = str(directory / program_name(words))
        status = builder([*words, "-o", built], is_cxx(words), flags).run()
        if status != 0:
            raise TroddenError(f"trodden.run: compiling {' '.join(words)} failed with status {status}")
        return _run(built, args, output)


def program_name(words: Sequence[str]) -> str:
    """The name of the program that the first source among a compiler's words is built into."""
    return Path(next(word for word in words if is_source(word))).stem


def is_cxx(words: Sequence[str]) -> bool:
    """Whether a C++ source is among a compiler's words, so that all have to be compiled and linked as C++."""
    return any(is_source(word, cxx=True) for word in words)


def _run(path: str, args: Sequence[str], output: StrPath | None) -> Run:
    ended = launch_instrumented(path, args)
    profile = profile_of(ended, path, output)
    return Run(ended.status, profile)


def launch_instrumented(path: str, args: Sequence[str], wait: bool = False) -> Ended:
    """Run a program to its end, if it is instrumented; with ``wait``, to that of all processes it started."""
    from trodden.collect.binary.program import read_program
    from trodden.native.execute.launch import launch

    read_program(path)
    return launch(path, args, wait)


def profile_of(ended: Ended, program: str, output: StrPath | None, name: str | None = None) -> Profile:
    """The profile of a run, also written to ``output``; ``name`` is what the profile calls the program.

    Then the raw files are removed.  Where no profile can be made of them, they are kept.
    """
    from trodden.native.execute.rundir import process_of
    from trodden.profile.from_runs import collect
    from trodden.profile.store.trod import save

    with _kept_on_failure(ended):
        if not ended.raws:
            raise NotInstrumented(no_counts(ended, program))
        with waiting(f"making a profile of {len(ended.raws):,} raw file{'s' * (len(ended.raws) > 1)}"):
            profile = collect(list(ended.raws))
        numbers = map(process_of, ended.running)
        running = (f"process {number} was still running; its counts are not included" for number in numbers)
        profile = replace(profile, program=name or profile.program, messages=(*profile.messages, *running))
        if output is not None:
            save(profile, output)
    ended.clear()
    return profile


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
        return f"{program}: was ended by {name}, with no time to save the counts; no profile was written"
    return f"{program}: ended with status {ended.status} and left no counts; no profile was written"
