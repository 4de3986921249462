"""Debian packages for those who are not root: fetched by apt, unpacked into a directory, and never installed.

A command that the machine has is taken from there.  Otherwise apt downloads the package that has it, together
with those it depends on that are not installed either, into a cache below ``recipes/work``.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

WORK = Path(__file__).parent / "work"
"""Everything that can be fetched again."""
_MULTIARCH = "usr/lib/{machine}-linux-gnu"


class RecipeError(Exception):
    """A tool is neither installed nor can it be fetched."""


def command(name: str, *packages: str) -> str:
    """The path of a command: the machine's own, or the one in these Debian packages."""
    found = shutil.which(name)
    if found is not None:
        return found
    return str(fetched_command(name, *packages))


def fetched_command(name: str, *packages: str) -> Path:
    """The path of a command in Debian packages, whatever the machine has."""
    root = unpacked(*packages)
    for place in ("usr/bin", "bin", "usr/lib/*/bin"):
        for path in sorted(root.glob(f"{place}/{name}")):
            return path
    raise RecipeError(f"{name}: {packages[0]} of Debian has no such command")


def environment(*first_packages: str) -> dict[str, str]:
    """The variables by which fetched commands find each other and their libraries.

    Each root is that of the package that was named first when it was fetched.  Empty if nothing was.  Perl
    modules are named too, since a script finds its own by absolute path.
    """
    roots = [root for package in first_packages if (root := _root(package)).is_dir()]
    if not roots:
        return {}
    places = {
        "PATH": ["usr/bin", "bin"],
        "LD_LIBRARY_PATH": [_MULTIARCH.format(machine=os.uname().machine), "usr/lib"],
        "PERL5LIB": ["usr/share/perl5", "usr/lib/*/perl5/*", "usr/lib/lcov"],
    }
    variables = {}
    for name, directories in places.items():
        new = [str(found) for root in roots for each in directories for found in sorted(root.glob(each))]
        if new:
            variables[name] = os.pathsep.join([*new, *filter(None, [os.environ.get(name)])])
    return variables


def unpacked(*packages: str) -> Path:
    """The directory of packages and of what they depend on, fetched and unpacked if that was not done."""
    root = _root(packages[0])
    with locked(WORK / "apt.lock"):
        if not root.is_dir():
            fresh = root.with_name(f"{root.name}.new")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True)
            for archive in _downloaded(packages):
                _tool(["dpkg-deb", "--extract", str(archive), str(fresh)])
            fresh.rename(root)
    return root


def _root(package: str) -> Path:
    return WORK / "packages" / package


def _downloaded(packages: Sequence[str]) -> Sequence[Path]:
    """The archives of packages and of those of their dependencies that are not installed."""
    if shutil.which("apt-get") is None:
        raise RecipeError(f"{' '.join(packages)}: apt-get is needed to fetch it; or install it")
    private = WORK / "apt"
    archives = private / "cache" / "archives"
    for directory in (private / "lists" / "partial", archives / "partial"):
        directory.mkdir(parents=True, exist_ok=True)
    for old in archives.glob("*.deb"):
        old.unlink()
    options = [
        *("-o", f"Dir::State::lists={private / 'lists'}"),
        *("-o", f"Dir::Cache={private / 'cache'}"),
        *("-o", "APT::Sandbox::User=root"),
        *("-o", "Debug::NoLocking=1"),
    ]
    _tool(["apt-get", "-qq", *options, "update"])
    fetch = ["install", "--reinstall", "--download-only", "--yes", "--no-install-recommends", *packages]
    _tool(["apt-get", "-qq", *options, *fetch])
    return sorted(archives.glob("*.deb"))


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one of several tests at a time fetches something."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _tool(words: Sequence[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise RecipeError(f"{words[0]} failed: {last}")
