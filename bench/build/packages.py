"""Packages with a configure script, built as their authors build them.

Each package is configured once by the machine's clang.  A copy of the configured tree is then built in each
configuration, so that only make runs again when trodden changes.
"""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.build.config import Config
from bench.build.fetching import unpacked
from bench.build.stamps import complete, fingerprint, home_of, is_current, lock_of, run_command, seconds_of
from bench.build.toolchain import CLANG, version_of
from bench.suite.sources import RULES, RULES_FILE, Package, PackageCommand
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.locking import locked


@dataclass(frozen=True)
class Make:
    """Builds one command of a package, together with the others."""

    source: PackageCommand

    def executable(self, config: Config) -> Path:
        """The executable, built unless the same build of the package exists."""
        package = self.source.package
        home = home_of(package.name, config)
        tree = home / "tree"
        with locked(lock_of(home)):
            state = self.fingerprint(config)
            if not is_current(home, state):
                self._make(home, config, state)
        return tree / self.source.path

    def fingerprint(self, config: Config) -> str:
        """A hash of everything that the build of the package depends on."""
        package = self.source.package
        return fingerprint([*_steps(package, config), [_configuration(package)]], [], config)

    def seconds(self, config: Config) -> float:
        """The processor time that all commands of the package took."""
        return seconds_of(home_of(self.source.package.name, config))

    def _make(self, home: Path, config: Config, state: str) -> None:
        package, tree = self.source.package, home / "tree"
        configured = _configured(package)
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(configured, tree, symlinks=True)
        what = f"{package.name}, {config.name}"
        seconds = sum(run_command([*step, "-j1"], tree, what) for step in _steps(package, config))
        for path in package.commands:
            if not (tree / path).is_file():
                raise BenchError(f"{package.name}: make did not produce {path}")
        complete(home, state, seconds)


def _steps(package: Package, config: Config) -> list[list[str]]:
    """The commands that build a configured package."""
    settings = [f"CC={shlex.join([*config.cc, '-w'])}", f"CFLAGS={shlex.join(config.flags)}"]
    if package.cxx_flags:
        settings += [
            f"CXX={shlex.join([*config.cxx, '-w'])}",
            f"CXXFLAGS={shlex.join([*config.flags, *package.cxx_flags])}",
        ]
    return [["make", *settings, *step] for step in package.steps]


def _configure(package: Package, sources: Path) -> list[str]:
    command = [str(sources / "configure"), *package.options, f"CC={CLANG}", "CFLAGS=-O2 -w"]
    if package.cxx_flags:
        flags = shlex.join(["-O2", "-w", *package.cxx_flags])
        command += [f"CXX={CLANG} --driver-mode=g++", f"CXXFLAGS={flags}"]
    return command


def _configuration(package: Package) -> str:
    """Everything that the configured tree of a package depends on."""
    sources = unpacked(package.archive, package.directory, WORK)
    return f"{shlex.join(_configure(package, sources))}\n{package.archive.sha256}\n{version_of(CLANG)}\n"


def _configured(package: Package) -> Path:
    """A directory in which the package is configured, with our makefile in addition to its own."""
    sources = unpacked(package.archive, package.directory, WORK)
    home = WORK / "configured" / package.name
    stamp = home / "stamp"
    state = _configuration(package)
    with locked(lock_of(home)):
        if stamp.is_file() and stamp.read_text() == state:
            return home
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        # Some configure scripts refuse to run as root unless this is set.
        allowed = ["FORCE_UNSAFE_CONFIGURE=1"] if os.geteuid() == 0 else []
        run_command(["env", *allowed, *_configure(package, sources)], home, f"{package.name}, configure")
        (home / RULES_FILE).write_text(RULES)
        stamp.write_text(state)
    return home
