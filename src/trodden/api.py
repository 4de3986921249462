"""The same from Python: build, run and look at a profile without the command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trodden.errors import TroddenError
from trodden.profile.model import Profile

if TYPE_CHECKING:
    from trodden.merging.merge import Merged

StrPath = str | os.PathLike[str]


@dataclass(frozen=True)
class Run:
    """A finished run: the program's exit status (negative: the signal that ended it) and its profile."""

    status: int
    profile: Profile


def run(
    *program: StrPath,
    args: Sequence[str] = (),
    profile: str | None = None,
    counters: str | None = None,
    stage: str | None = None,
    weights: StrPath | None = None,
    only: str | Sequence[str] = (),
    leave: str | Sequence[str] = (),
    toolchain: str | None = None,
    max_paths: int | str | None = None,
    context: bool | None = None,
    metric: str | None = None,
    cut_by: str | None = None,
    last: int | None = None,
    call_paths: bool | None = None,
    durable: bool | None = None,
    output: StrPath | None = None,
) -> Run:
    """Run an instrumented program, or sources with compiler flags, and answer with the profile.

    ``trodden.run("./app", args=["x"])`` runs what ``trodden cc`` has built; ``trodden.run("a.c", "-O2")``
    builds it first.  The program keeps its own standard streams.  ``output`` also writes the profile there.

    With ``profile="paths"`` every function of the answer has ``paths``; ``max_paths`` is the most that a
    function may have before some are cut (``"none"`` cuts nothing), ``context`` joins each path through a
    loop with the way that led to it, ``metric="cycles"`` takes the time of each, ``last`` is how many of each
    thread's last paths are kept one by one.  With ``call_paths`` the profile, whatever it is of, has the
    paths of calls too; with ``durable`` no count waits in a register for its loop to end.  What is left
    ``None`` is as the environment says, or else the default.
    """
    from trodden.native.driver.command_line import is_source

    chosen = {
        "profile": profile,
        "counters": counters,
        "stage": stage,
        "weights": None if weights is None else os.fspath(weights),
        "toolchain": toolchain,
        "max-paths": None if max_paths is None else str(max_paths),
        "context": _switched(context),
        "metric": metric,
        "cut-by": cut_by,
        "last": None if last is None else str(last),
        "call-paths": _switched(call_paths),
        "durable": _switched(durable),
    }
    own = [f"--trodden-{name}={value}" for name, value in chosen.items() if value is not None]
    own += [f"--trodden-only={pattern}" for pattern in _several(only)]
    own += [f"--trodden-leave={pattern}" for pattern in _several(leave)]
    words = [os.fspath(word) for word in program]
    if not any(is_source(word) for word in words):
        if len(words) != 1:
            raise TroddenError("trodden.run: name one program (its arguments go to args=) or sources")
        if own:
            raise TroddenError(f"trodden.run: {words[0]} is built already; name sources to choose how")
        return _run(words[0], args, output)
    from trodden.commands import cc
    from trodden.native.driver.build import scratch

    cxx = any(is_source(word, cxx=True) for word in words)
    with scratch() as directory:
        built = directory / Path(next(word for word in words if is_source(word))).stem
        status = cc.main([*own, *words, "-o", str(built)], cxx=cxx)
        if status != 0:
            raise TroddenError(f"trodden.run: compiling {' '.join(words)} failed with status {status}")
        return _run(str(built), args, output)


def merge(
    *files: StrPath, combine: str = "sum", strict: bool = False, output: StrPath | None = None
) -> Merged:
    """Join profiles and raw files into one profile, as ``trodden merge`` does.

    Those that are damaged or do not belong to the others are left out: see ``left_out`` and ``problems`` of
    the answer, or have :class:`trodden.errors.LeftOut` raised instead by ``strict``.  ``output`` also writes
    the profile there.
    """
    from trodden.merging.merge import merge as join
    from trodden.profile.store.trod import save

    merged = join((os.fspath(file) for file in files), combine, strict)
    if output is not None:
        save(merged.profile, output)
    return merged


def estimate(
    *program: StrPath,
    flags: Sequence[str] = (),
    rates: StrPath | None = None,
    stage: str = "late",
    toolchain: str | None = None,
    output: StrPath | None = None,
) -> Profile:
    """The profile that one run of a program is expected to have, as ``trodden estimate`` makes it.

    ``program`` are sources (compiled with ``flags``), LLVM IR, what ``trodden cc`` has built or profiles.
    ``rates`` is ``"calibrated"``, ``"wl94"`` or a file that ``trodden calibrate`` has written.  The answer
    has ``estimate``, and its counts are fractions.  ``output`` also writes it there.
    """
    from trodden.commands.units import estimate_of
    from trodden.native.driver.build import CompilerFailed
    from trodden.profile.store.trod import save
    from trodden.weigh.heuristics.rates import default_rates, load_rates

    files = [os.fspath(file) for file in program]
    table = default_rates() if rates is None else load_rates(os.fspath(rates))
    try:
        profile = estimate_of(files, flags, stage, toolchain, table)
    except CompilerFailed as failure:
        named = shlex.join([*files, *flags])
        raise TroddenError(
            f"trodden.estimate: compiling {named} failed with status {failure.status}"
        ) from failure
    if output is not None:
        save(profile, output)
    return profile


def _switched(on: bool | None) -> str | None:
    return None if on is None else "on" if on else "off"


def _several(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else given


def _run(path: str, args: Sequence[str], output: StrPath | None) -> Run:
    from trodden.collect.binary.program import read_program
    from trodden.commands.run import gather, kept_on_failure
    from trodden.native.execute.launch import launch
    from trodden.profile.store.trod import save

    read_program(path)
    ended = launch(path, args)
    with kept_on_failure(ended):
        profile = gather(ended, path)
        if output is not None:
            save(profile, output)
    ended.clear()
    return Run(ended.status, profile)
