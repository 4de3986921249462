"""Source archives, fetched by the machine's package clients and checked by their SHA-256.

Archives are kept below ``bench/work`` and never fetched twice; one that was fetched before is checked again
before it is used.  The clients use the machine's own settings (registries, mirrors).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from bench.suite.model import Archive
from bench.support.errors import BenchError
from bench.support.locking import locked

_APT_SETTINGS = Path("/etc/apt")


def unpacked(archive: Archive, directory: str, work: Path) -> Path:
    """A directory of the archive, fetched and unpacked if necessary; the rest is not unpacked."""
    with locked(work / "archives" / f"{archive.file}.lock"):
        return _unpacked(archive, directory, work)


def _unpacked(archive: Archive, directory: str, work: Path) -> Path:
    home = work / "archives"
    path = home / archive.file
    target = work / "unpacked" / archive.file.partition(".t")[0]
    if target.is_dir() and path.is_file() and digest(path) == archive.sha256:
        return target / directory
    if not path.is_file():
        with locked(home / f"{archive.client}.lock"):
            _CLIENTS[archive.client](archive.package, home)
    if not path.is_file():
        raise BenchError(f"{archive.client} fetched another version of {archive.package}, not {archive.file}")
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
    """Source packages by apt, with a private copy of the machine's list of package sources."""
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
    # Some entry of the list may have no source packages; only this package matters.
    _tool(["apt-get", "-qq", *options, "update"], home, must_succeed=False)
    # The changes of Debian are not built here.
    _tool(["apt-get", "-qq", *options, "source", "--download-only", "--tar-only", package], home)


def as_source_packages(settings: str) -> str:
    """A list of package sources, in either of apt's two formats, with source code in place of binaries."""
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
