"""Estimates: the profile that one run of a program is expected to have (WL94)."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trodden.errors import BuildFailed, UsageError

if TYPE_CHECKING:
    from trodden.api.profiles import StrPath
    from trodden.native.options.declarations import Options, Stage
    from trodden.profile.model import Profile
    from trodden.weigh.heuristics.rates import Rates


def estimate(
    *program: StrPath,
    flags: Sequence[str] = (),
    rates: StrPath | None = None,
    stage: Stage = "late",
    toolchain: str | None = None,
    output: StrPath | None = None,
) -> Profile:
    """The profile that one run of a program is expected to have, as ``trodden estimate`` makes it.

    ``program`` are sources (compiled with ``flags``), LLVM IR, what ``trodden cc`` has built, or profiles.
    ``rates`` is ``"calibrated"``, ``"wl94"`` or a file that ``trodden calibrate`` has written.  The profile
    has ``estimate``, and its counts are fractions.  ``output`` also writes it there.
    """
    from trodden.native.driver.build import CompilerFailed
    from trodden.native.driver.diagnostics import kept_diagnostics
    from trodden.native.options.given import choose, keywords
    from trodden.profile.store.trod import save
    from trodden.weigh.heuristics.rates import default_rates, load_rates

    files = [os.fspath(file) for file in program]
    table = default_rates() if rates is None else load_rates(os.fspath(rates))
    options = choose(keywords({"stage": stage, "toolchain": toolchain}), {})
    with kept_diagnostics() as diagnostics:
        try:
            profile = estimate_of(files, flags, options, table)
        except CompilerFailed as failure:
            named = shlex.join([*files, *flags])
            raise BuildFailed(
                f"trodden.estimate: compiling {named} failed with status {failure.status}",
                "".join(diagnostics),
            ) from failure
    if output is not None:
        save(profile, output)
    return profile


def estimate_of(
    files: Sequence[str],
    flags: Sequence[str],
    options: Options,
    rates: Rates,
    progress: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> Profile:
    """The estimate of the program that ``files`` are; ``progress`` passes them on, one after the other."""
    from trodden.api.units import KINDS, is_compiled, units_of
    from trodden.estimating.estimate import estimate as estimated

    if not files:
        raise UsageError(f"there is nothing to estimate; name {KINDS}")
    if not any(map(is_compiled, files)):
        _refuse_compiler_options(files, flags, options)
    units = units_of(progress(files), flags, options)
    profile = estimated(shlex.join(files), units, rates)
    return replace(profile, messages=(*profile.messages, *_messages(profile)))


def _refuse_compiler_options(files: Sequence[str], flags: Sequence[str], options: Options) -> None:
    """Options and flags that say how to compile are mistakes where nothing is compiled."""
    named = " ".join(files)
    if flags:
        raise UsageError(
            f"{named}: nothing of it is compiled; flags after -- are for sources: leave them out"
        )
    if options.stage == "early":
        raise UsageError(
            f"{named}: nothing of it is compiled; stage {options.stage} is for sources, leave it out"
        )


def _messages(profile: Profile) -> Iterable[str]:
    mains = sum(each.facts.linkage_name == "main" for each in profile.functions.values())
    if mains > 1:
        yield f"{mains} functions are called main: several programs were estimated as one"
