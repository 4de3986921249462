"""The environment in which cargo builds with probes.

Only the crates of the workspace carry probes, unless dependencies are asked for too.  Cargo calls the
program that ``RUSTC_WORKSPACE_WRAPPER`` names for the former, and the one that ``RUSTC_WRAPPER`` names for
all crates.  With a target named, even if it is the host, cargo builds separately what runs during the build
(build scripts, procedural macros and their dependencies), so that these get no probes.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from trodden.errors import UsageError
from trodden.native.options.codec import encode_options
from trodden.native.options.declarations import Options
from trodden.native.rust.compiler import ask_rustc, rustc_command
from trodden.native.rust.job import RustJob
from trodden.native.rust.scripts import linker_script, wrapper_script
from trodden.version import __version__

_DIRECTORY = "trodden"
_CONFIGURATIONS = ("config.toml", "config")


def target_directory(cargo: Sequence[str], words: Sequence[str]) -> Path | None:
    """The target directory of the package that cargo would build; ``None`` if there is no package."""
    command = [*cargo, "metadata", "--no-deps", "--format-version", "1", *_where(words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return Path(json.loads(done.stdout)["target_directory"])


def _where(words: Sequence[str]) -> list[str]:
    """The words that name the package."""
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
    folders = [directory / ".cargo" for directory in (here, *here.parents)]
    folders.append(Path(os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")))
    return any(_configures_target(folder / name) for folder in folders for name in _CONFIGURATIONS)


def _configures_target(path: Path) -> bool:
    try:
        build = tomllib.loads(path.read_text()).get("build", {})
    except (OSError, ValueError):
        return False
    return isinstance(build, dict) and "target" in build


def cargo_environment(
    cargo: str, words: Sequence[str], options: Options, dependencies: bool
) -> dict[str, str]:
    """The environment variables that make cargo build with probes; none where there is no package.

    The build depends on our options and our version, of which cargo knows nothing.  So they are part of a
    name that cargo does look at: that of the wrapper, or, with dependencies, that of the directory.
    """
    if dependencies and any(word.split("=")[0] == "--target-dir" for word in words):
        raise UsageError("--target-dir: not with --deps; set CARGO_TARGET_DIR, below which trodden builds")
    toolchain = words[:1] if words and words[0].startswith("+") else []
    compiler = ask_rustc(rustc_command(None, toolchain))
    target = target_directory([cargo, *toolchain], words)
    if target is None:
        # There is nothing to build here; cargo itself will say so.
        return {}
    chosen = json.dumps([__version__, encode_options(options)])
    tag = hashlib.sha256(chosen.encode()).hexdigest()[:10]
    directory = target / _DIRECTORY
    scripts = directory / ".wrappers" / tag
    wrapper = wrapper_script(scripts, options)
    variables = {
        "CARGO_TARGET_DIR": str(directory / f"with-dependencies-{tag}" if dependencies else directory),
        "CARGO_INCREMENTAL": "0",
        "RUSTC_WRAPPER" if dependencies else "RUSTC_WORKSPACE_WRAPPER": str(wrapper),
    }
    if not names_target(words):
        variables["CARGO_BUILD_TARGET"] = compiler.host
    # rustdoc compiles the tests in comments, and these have to be linked with the runtime as well.
    job = RustJob(options, "", ("-O0",), None, None, False, doc_tests=True)
    script = linker_script(scripts, job, "cc")
    return variables | without_lto(words) | rustdoc_flags(os.environ, ["-C", f"linker={script}"])


def without_lto(words: Sequence[str]) -> dict[str, str]:
    """The variables that switch link-time optimisation off, for cargo's own profiles and one that is named.

    Otherwise crates without probes would be compiled to bitcode, for which our link has no optimiser.
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


def rustdoc_flags(environment: Mapping[str, str], more: Sequence[str]) -> dict[str, str]:
    """The variable that lists flags for rustdoc, with more of them."""
    encoded = "CARGO_ENCODED_RUSTDOCFLAGS"
    given = environment.get(encoded)
    flags = given.split("\x1f") if given else environment.get("RUSTDOCFLAGS", "").split()
    return {encoded: "\x1f".join([*flags, *more])}
