"""Compiler caches (ccache, sccache): an object is only reused where the same probes would be inserted.

A cache sees the command line and the source, but neither our options in the environment nor our version nor
the profile that ``weights`` names.  It runs the compiler for the preprocessed source, and hashes that: so we
add these to it.  Without a preprocessor (ccache's direct and depend modes) it compares the files that a
source includes, and gives that up for a source which includes something that is no regular file: so we name
such a file, a socket, in the preprocessed source and among the dependencies.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from trodden.native.driver.toolchain import cache_dir
from trodden.native.options.declarations import ESTIMATE, NESTING, Options
from trodden.version import __version__

_CACHE = "cache"
"""What the names of compiler caches have in common."""
_WITHOUT_MARKERS = ("-P", "--no-line-commands")
_DEPENDENCIES = ("-MD", "-MMD", "-Wp,-M")


def calling_cache() -> str | None:
    """The path of the compiler cache among the processes that called us; empty if that is unknown."""
    process = os.getppid()
    try:
        while process > 1:
            program = os.readlink(f"/proc/{process}/exe")
            if _CACHE in os.path.basename(program):
                return program
            # The name of the program is in brackets, and may itself contain some.
            status = Path(f"/proc/{process}/stat").read_text(errors="replace")
            process = int(status.rpartition(")")[2].split()[1])
    except PermissionError:
        # A process of another user, which has started all that is our own.
        return None
    except (OSError, ValueError, IndexError):
        return ""
    return None


def preprocessed_suffix(words: Sequence[str], source: str, options: Options, toolchain: str) -> str:
    """What preprocessed source ends with when a cache reads it; nothing after a list of macros.

    A cache that asks for no line markers learns of no files, and goes by the text alone.
    """
    if "-dM" in words:
        return ""
    named = f"/* trodden {_digest(options, toolchain)} */\n"
    if any(word in _WITHOUT_MARKERS for word in words):
        return named
    return f'# 1 "{_guard()}" 1\n{named}# 1 "{source}" 2\n'


def dependency_entry(words: Sequence[str]) -> list[str]:
    """The flag that adds the socket to the dependencies, if a cache goes by these alone."""
    if not any(word.startswith(_DEPENDENCIES) for word in words):
        return []
    cache = calling_cache()
    if cache is None or (cache and not _by_dependencies(cache)):
        return []
    return ["-Xclang", f"-fdepfile-entry={_guard()}"]


def _by_dependencies(cache: str) -> bool:
    """Whether this cache never runs the preprocessor: ccache's depend mode."""
    asked = [cache, "--get-config", "depend_mode"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == "true"


def _digest(options: Options, toolchain: str) -> str:
    """A hash of everything that decides which probes an object gets, beside its source and its flags."""
    weights = b""
    if options.weights not in (ESTIMATE, NESTING):
        with contextlib.suppress(OSError):
            weights = Path(options.weights).read_bytes()
    digest = hashlib.sha256(repr((__version__, toolchain, options)).encode(errors="replace"))
    digest.update(weights)
    return digest.hexdigest()


def _guard() -> str:
    """The path of a socket that nobody listens to: not a regular file, and opening it fails at once."""
    import socket

    path = str(cache_dir() / "options")
    if not os.path.exists(path):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as made:
            made.bind(path)
    return path
