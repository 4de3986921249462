"""Fingerprints: hashes of everything that a build, a run or a figure depends on."""

from __future__ import annotations

import hashlib
from pathlib import Path


def hashed(*parts: str) -> str:
    """One fingerprint of several parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def contents(directory: Path) -> str:
    """A hash of all files below a directory, with their names."""
    found = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        name, content = str(path.relative_to(directory)), path.read_bytes()
        found.update(f"{len(name)} {name} {len(content)} ".encode())
        found.update(content)
    return found.hexdigest()
