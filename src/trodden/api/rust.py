"""Rust: crates compiled and linked with probes, and the environment in which cargo builds a package."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.api.builds import with_weights
from trodden.native.driver.build import CompilerFailed
from trodden.native.driver.command_line import expand
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.options.declarations import Options
from trodden.native.rust.command_line import parse_rust
from trodden.native.rust.compiler import ask_rustc, rustc_command
from trodden.native.rust.crate import Crate, call_rustc
from trodden.native.rust.job import RustJob
from trodden.native.rust.link import link_rust
from trodden.native.rust.package import cargo_environment
from trodden.native.rust.units import toolchain_for


def compile_crate(rustc: str | None, words: Sequence[str], options: Options, by_cargo: bool = False) -> int:
    """Carry out a command line of rustc; return the exit status.

    ``rustc`` is the compiler, if not the default one.  Cargo names a target for everything that is to run
    there; what it compiles without one runs during the build, and gets no probes.
    """
    command = rustc_command(rustc, words)
    rest = words[len(command) - 1 :]
    line = parse_rust(rest)
    if not line.native or "proc-macro" in line.crate_types or (by_cargo and line.target is None):
        return call_rustc([*command, *rest])
    line.check()
    return Crate(ask_rustc(command), line, with_weights(options)).build()


def link_crate(job: str, words: Sequence[str]) -> int:
    """Carry out a link that rustc has asked for; ``job`` is the file that describes the crate."""
    described = RustJob.load(job)
    options = with_weights(described.options)
    toolchain = toolchain_for(find_toolchain(options.toolchain))
    try:
        return link_rust(expand(words), described, toolchain, options)
    except CompilerFailed as failure:
        return failure.status


def package_environment(
    cargo: str, words: Sequence[str], options: Options, dependencies: bool
) -> dict[str, str]:
    """The environment variables that make cargo build with probes; the options are checked first."""
    find_toolchain(options.toolchain)
    with_weights(options)
    return cargo_environment(cargo, words, options, dependencies)
