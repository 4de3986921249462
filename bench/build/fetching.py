"""Get the sources of real programs with the machine's own package clients, each checked by its SHA-256.

Archives are kept below ``bench/work`` and never fetched twice; what is there already is checked again
before it is used.  The machine's own settings (which registries, which mirrors) are what the clients use.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.support.errors import BenchError
from bench.support.locking import held

_APT_SETTINGS = Path("/etc/apt")


@dataclass(frozen=True)
class Archive:
    """A source archive: the client that fetches it, what to ask for, its file name, its checksum."""

    client: str
    package: str
    file: str
    sha256: str


def unpacked(archive: Archive, directory: str, work: Path) -> Path:
    """A directory out of the archive, fetched and unpacked if need be; the rest is left where it is."""
    with held(work / "archives" / f"{archive.file}.lock"):
        return _unpacked(archive, directory, work)


def _unpacked(archive: Archive, directory: str, work: Path) -> Path:
    home = work / "archives"
    path = home / archive.file
    target = work / "unpacked" / archive.file.partition(".t")[0]
    if target.is_dir() and path.is_file() and digest(path) == archive.sha256:
        return target / directory
    if not path.is_file():
        with held(home / f"{archive.client}.lock"):
            _CLIENTS[archive.client](archive.package, home)
    if not path.is_file():
        raise BenchError(f"{archive.client} delivered another {archive.package}, not {archive.file}")
    found = digest(path)
    if found != archive.sha256:
        path.unlink()
        raise BenchError(f"{path}: SHA-256 is {found}, not {archive.sha256}; it was removed, try again")
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(path) as tar:
        wanted = [member for member in tar if member.name.startswith(f"{directory}/")]
        tar.extractall(fresh, wanted, filter="data")
    fresh.rename(target)
    return target / directory


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _with_apt(package: str, home: Path) -> None:
    """Source packages by apt, from a private copy of the machine's package sources turned to source code."""
    if shutil.which("apt-get") is None:
        raise BenchError(f"apt-get is needed to fetch the source of {package}")
    private = home / "apt"
    parts = private / "parts"
    for directory in (parts, private / "lists" / "partial", private / "cache" / "archives" / "partial"):
        directory.mkdir(parents=True, exist_ok=True)
    for own in [*_APT_SETTINGS.glob("sources.list"), *_APT_SETTINGS.glob("sources.list.d/*")]:
        if own.suffix in (".list", ".sources"):
            (parts / f"copy-{own.name}").write_text(as_source_packages(own.read_text()))
    options = [
        *("-o", "Dir::Etc::sourcelist=/dev/null"),
        *("-o", f"Dir::Etc::sourceparts={parts}"),
        *("-o", f"Dir::State::lists={private / 'lists'}"),
        *("-o", f"Dir::Cache={private / 'cache'}"),
        *("-o", "APT::Sandbox::User=root"),
    ]
    # One source of many may have no source packages; only whether this package comes matters.
    _tool(["apt-get", "-qq", *options, "update"], home, must_succeed=False)
    # What Debian adds to the sources is not built here, and need not come.
    _tool(["apt-get", "-qq", *options, "source", "--download-only", "--tar-only", package], home)


def as_source_packages(settings: str) -> str:
    """Package sources in either of apt's two notations, asking for source code in place of binaries."""
    settings = re.sub(r"^Types:.*$", "Types: deb-src", settings, flags=re.MULTILINE)
    return re.sub(r"^deb(?=\s)", "deb-src", settings, flags=re.MULTILINE)


def _with_pip(package: str, home: Path) -> None:
    _tool(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-binary", ":all:", package),
        ],
        home,
    )


def _with_npm(package: str, home: Path) -> None:
    if shutil.which("npm") is None:
        raise BenchError(f"npm is needed to fetch {package}; install Node.js")
    _tool(["npm", "pack", "--silent", package], home)


def _tool(command: Sequence[str], directory: Path, must_succeed: bool = True) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if must_succeed and done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise BenchError(f"{command[0]} failed: {last}")


_CLIENTS = {"apt": _with_apt, "pip": _with_pip, "npm": _with_npm}
