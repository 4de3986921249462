"""How cargo is told to build with probes.

Only the crates of the workspace carry probes, unless dependencies are asked for too.  Cargo calls what
``RUSTC_WORKSPACE_WRAPPER`` names for the first and what ``RUSTC_WRAPPER`` names for all.  With a target
named, even if it is this machine, cargo keeps apart what runs while it builds (build scripts, macros and
what they need), so that these stay plain.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from trodden.errors import CannotWrite
from trodden.version import __version__

_DIRECTORY = "trodden"
_CONFIGURED = ("config.toml", "config")


def target_directory(cargo: Sequence[str], words: Sequence[str]) -> Path | None:
    """Where cargo would put what it builds for the package that is meant; None if there is no package."""
    command = [*cargo, "metadata", "--no-deps", "--format-version", "1", *_where(words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return Path(json.loads(done.stdout)["target_directory"])


def _where(words: Sequence[str]) -> list[str]:
    """The words that say which package is meant."""
    found: list[str] = []
    for at, word in enumerate(words):
        if word == "--":
            break
        if word == "--manifest-path" and at + 1 < len(words):
            found += words[at : at + 2]
        elif word.startswith("--manifest-path="):
            found.append(word)
    return found


def names_target(words: Sequence[str]) -> bool:
    """Whether a target is named: on the command line, in the environment, or in cargo's configuration."""
    before = words[: list(words).index("--")] if "--" in words else words
    if any(word == "--target" or word.startswith("--target=") for word in before):
        return True
    if os.environ.get("CARGO_BUILD_TARGET"):
        return True
    here = Path.cwd()
    places = [directory / ".cargo" for directory in (here, *here.parents)]
    places.append(Path(os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")))
    return any(_configures_target(place / name) for place in places for name in _CONFIGURED)


def _configures_target(path: Path) -> bool:
    try:
        build = tomllib.loads(path.read_text()).get("build", {})
    except (OSError, ValueError):
        return False
    return isinstance(build, dict) and "target" in build


def settings(
    target: Path, own: Sequence[str], dependencies: bool, host: str | None
) -> tuple[dict[str, str], Path]:
    """The environment that makes cargo build with probes, and the directory for the scripts it names.

    What is built depends on our options and our version, of which cargo knows nothing; so they are part of
    a name that it does look at: that of the wrapper, or with dependencies that of the directory.
    """
    chosen = [
        __version__,
        *own,
        *(f"{name}={value}" for name, value in sorted(os.environ.items()) if _steers(name)),
    ]
    tag = hashlib.sha256("\0".join(chosen).encode()).hexdigest()[:10]
    directory = target / _DIRECTORY
    scripts = directory / ".wrappers" / tag
    wrapper = _script(scripts / "rustc", ["rustc", "--trodden-host=plain", *own])
    variables = {
        "CARGO_TARGET_DIR": str(directory / f"with-dependencies-{tag}" if dependencies else directory),
        "CARGO_INCREMENTAL": "0",
        "RUSTC_WRAPPER" if dependencies else "RUSTC_WORKSPACE_WRAPPER": str(wrapper),
    }
    if host is not None:
        variables["CARGO_BUILD_TARGET"] = host
    return variables, scripts


def without_lto(words: Sequence[str]) -> dict[str, str]:
    """What tells cargo to leave optimisation at link time out, for its own profiles and one that is named.

    Crates without probes would be bitcode otherwise, for an optimiser at the link that there is not.
    """
    names = {"dev", "release", "test", "bench"}
    for at, word in enumerate(words):
        if word == "--":
            break
        if word == "--profile":
            names.update(words[at + 1 : at + 2])
        elif word.startswith("--profile="):
            names.add(word.partition("=")[2])
    return {f"CARGO_PROFILE_{name.upper().replace('-', '_')}_LTO": "false" for name in sorted(names)}


def _steers(name: str) -> bool:
    return name.startswith("TRODDEN_") and name not in ("TRODDEN_FILE", "TRODDEN_CACHE")


def _script(path: Path, words: Sequence[str]) -> Path:
    """A program for cargo to call before rustc, whose path is its first argument."""
    run = shlex.join([sys.executable, "-P", "-m", "trodden", *words])
    text = f'#!/bin/sh\ncompiler=$1\nshift\nexec {run} --trodden-rustc="$compiler" "$@"\n'
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            temporary = path.with_name(f"{path.name}.{os.getpid()}")
            temporary.write_text(text)
            temporary.chmod(0o755)
            temporary.replace(path)
    except OSError as error:
        raise CannotWrite(
            f"{path}: cannot write ({error.strerror}); make the target directory writable"
        ) from error
    return path


def rustdoc_flags(environment: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """The variable that lists flags for rustdoc, with more of them."""
    encoded = "CARGO_ENCODED_RUSTDOCFLAGS"
    given = environment.get(encoded)
    flags = given.split("\x1f") if given else environment.get("RUSTDOCFLAGS", "").split()
    return {encoded: "\x1f".join([*flags, *more])}
