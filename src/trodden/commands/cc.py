"""``trodden cc`` and ``trodden c++``: drop-in compilers that instrument on the way."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from trodden.errors import UsageError
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import CommandLine, expand, parse
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.options import (
    COUNTER_SCHEMES,
    CUTTING_RULES,
    Options,
    PathOptions,
    last_paths,
    most_paths,
)

_PROFILES = ("edges", "blocks", "paths", "off")
_SCHEME_OF_PROFILE = {"edges": "edges", "blocks": "blocks-by-edges"}
_KNOWN = frozenset(
    {"profile", "counters", "stage", "weights", "only", "leave", "toolchain", "trips", "sites", "positions"}
    | {"max-paths", "context", "metric", "cut-by", "call-paths", "durable", "last", "copies", "odds"}
)


def main(argv: Sequence[str], cxx: bool) -> int:
    """Compile, instrument and link as ``argv`` says; answer the exit status."""
    # A compiler runs briefly and makes few cycles; looking for them costs a fifth of a large file's time.
    gc.disable()
    line = parse(expand(argv), cxx)
    for reason in dict.fromkeys(reason for _, reason in line.ignored):
        flags = " ".join(flag for flag, why in line.ignored if why == reason)
        sys.stderr.write(f"trodden: {flags}: ignored; {reason}\n")
    return builder_for(line, cxx).run()


def builder_for(line: CommandLine, cxx: bool) -> Builder:
    """The builder with the options that flags and environment ask for."""
    for name, values in line.own.items():
        if name not in _KNOWN:
            known = ", ".join(f"--trodden-{known}" for known in sorted(_KNOWN))
            raise UsageError(f"--trodden-{name}: no such option; there are {known}")
        if not all(values):
            raise UsageError(f"--trodden-{name}: needs a value, as in --trodden-{name}=...")
    return Builder(find_toolchain(setting(line, "toolchain") or None), options_for(line), line, cxx)


def setting(line: CommandLine, name: str) -> str:
    """An option by flag, or by environment (``TRODDEN_NAME``)."""
    if line.own.get(name):
        return line.own[name][-1]
    return os.environ.get(f"TRODDEN_{name.upper().replace('-', '_')}", "")


def _switch(line: CommandLine, name: str, otherwise: str = "on") -> bool:
    value = setting(line, name) or otherwise
    if value not in ("on", "off"):
        raise UsageError(f"--trodden-{name}={value}: choose on or off")
    return value == "on"


def globs(line: CommandLine, name: str) -> tuple[str, ...]:
    """Patterns by flag (repeated) or by environment (separated by commas)."""
    given = line.own.get(name) or os.environ.get(f"TRODDEN_{name.upper()}", "").split(",")
    return tuple(pattern for text in given for pattern in text.split(",") if pattern)


def options_for(line: CommandLine) -> Options:
    """Instrumenting options from flags and environment, checked."""
    profile = setting(line, "profile") or "edges"
    if profile not in _PROFILES:
        raise UsageError(f"--trodden-profile={profile}: choose one of {', '.join(_PROFILES)}")
    counters = setting(line, "counters") or _SCHEME_OF_PROFILE.get(profile, "edges")
    if counters not in COUNTER_SCHEMES:
        raise UsageError(f"--trodden-counters={counters}: choose one of {', '.join(COUNTER_SCHEMES)}")
    stage = setting(line, "stage") or "late"
    if stage not in ("late", "early"):
        raise UsageError(f"--trodden-stage={stage}: choose late or early")
    if profile != "paths":
        for name in ("max-paths", "context", "metric", "cut-by", "last", "copies"):
            if name in line.own:
                raise UsageError(f"--trodden-{name}: goes with --trodden-profile=paths")
    calls = _switch(line, "call-paths", "off")
    durable = _switch(line, "durable", "off")
    if calls and stage == "early":
        raise UsageError("--trodden-call-paths=on: calls are kept at the late stage only; leave early out")
    paths = _path_options(line) if profile == "paths" else None
    if paths is not None:
        if stage == "early":
            raise UsageError("--trodden-stage=early: paths are those of the optimised program; leave it out")
        if counters not in ("edges", "checked"):
            raise UsageError(
                f"--trodden-counters={counters}: not with paths; choose checked, or leave it out"
            )
    options = Options(
        counters=counters,
        stage=stage,
        only=globs(line, "only"),
        leave=globs(line, "leave"),
        trips=_switch(line, "trips") and not durable,
        sites=_switch(line, "sites"),
        positions=_switch(line, "positions"),
        calls=calls,
        durable=durable,
        copies=_switch(line, "copies"),
        odds=_switch(line, "odds"),
        paths=paths,
    )
    if profile == "off":
        options = replace(options, leave=("*",))
    weights = setting(line, "weights")
    if weights:
        from trodden.commands.weights import weighed

        options = weighed(options, weights)
    return options


def _path_options(line: CommandLine) -> PathOptions:
    """What flags and environment say of paths."""
    asked = setting(line, "max-paths")
    try:
        most = most_paths(asked)
    except ValueError as error:
        raise UsageError(f"--trodden-max-paths={asked}: {error}") from error
    metric = setting(line, "metric") or "none"
    if metric not in ("none", "cycles"):
        raise UsageError(f"--trodden-metric={metric}: choose cycles, or leave it out")
    cutting = setting(line, "cut-by") or CUTTING_RULES[0]
    if cutting not in CUTTING_RULES:
        raise UsageError(f"--trodden-cut-by={cutting}: choose one of {', '.join(CUTTING_RULES)}")
    kept = setting(line, "last")
    try:
        last = last_paths(kept)
    except ValueError as error:
        raise UsageError(f"--trodden-last={kept}: {error}") from error
    return PathOptions(most, _switch(line, "context", "off"), metric == "cycles", cutting, last)
