"""A directory in which the linker finds the embedded toolchain's own libraries by ``-l``.

They lie scattered in the cache of ``zig cc``, and not all under names that a linker looks for.  With symbolic
links to them, words of the user (``-lm``, ``-lc++``) and of tools that repeat a link line (libtool) work as
with other toolchains.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from trodden import temporary

_LIBRARY = re.compile(r"lib(?P<name>.+?)\.(?P<kind>a|so)(?:\.[\d.]+)?$")
_EMPTY = b"!<arch>\n"
_PARTS_OF_C = ("m", "pthread", "dl", "rt", "util", "resolv", "crypt", "xnet")
"""What may be part of the C library itself, and is asked for by name nevertheless."""
_OTHER_NAMES = {
    "gcc": ("compiler_rt",),
    "atomic": ("compiler_rt",),
    "ssp": (),
    "gcc_s": ("unwind",),
    "gcc_eh": ("unwind",),
    "stdc++": ("c++", "c++abi", "unwind"),
}
"""Libraries of other toolchains, and what has the same functions here."""
_COMPLEMENTS_OF_C = ("c_nonshared", "zigc")
"""What belongs to the C library and is no part of its main file."""
_MAIN_FILE_OF_C = "c_main"


def by_name(word: str) -> str:
    """The word that asks the linker for a library by name; other words as they are."""
    found = _LIBRARY.match(os.path.basename(word))
    return word if found is None or not os.path.isabs(word) else f"-l{found['name']}"


def make_directory(directory: Path, words: Iterable[str]) -> list[str]:
    """Make a directory of all libraries among ``words`` that are files; return these files.

    Of concurrent processes the first one makes it.
    """
    files = [word for word in words if os.path.isabs(word) and _LIBRARY.match(os.path.basename(word))]
    with temporary.directory("linking-", directory.parent) as work:
        known: set[str] = set()
        for file in files:
            found = _LIBRARY.match(os.path.basename(file))
            if found is not None and found["name"] not in known:
                known.add(found["name"])
                os.symlink(file, work / f"lib{found['name']}.{found['kind']}")
        if "c" in known:
            _complete_c(work, known)
            _make_parts(work, known)
        _make_other_names(work, known)
        shutil.rmtree(directory, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rename(work, directory)
    return files


def _complete_c(directory: Path, known: set[str]) -> None:
    """Make ``-lc`` mean all of the C library, as the script does that glibc installs for it."""
    complements = [name for name in _COMPLEMENTS_OF_C if name in known]
    if complements:
        (main,) = directory.glob("libc.*")
        main.rename(directory / f"lib{_MAIN_FILE_OF_C}{main.suffix}")
        main.write_bytes(_script([_MAIN_FILE_OF_C, *complements]))


def _script(names: Iterable[str]) -> bytes:
    """A linker script that stands for other libraries."""
    return f"INPUT({' '.join(f'-l{name}' for name in names)})\n".encode()


def _make_parts(directory: Path, known: set[str]) -> None:
    """Empty libraries, as musl has them for what is in its ``libc.a``."""
    for name in _PARTS_OF_C:
        if name not in known:
            (directory / f"lib{name}.a").write_bytes(_EMPTY)


def _make_other_names(directory: Path, known: set[str]) -> None:
    for name, parts in _OTHER_NAMES.items():
        if known.issuperset(parts):
            (directory / f"lib{name}.a").write_bytes(_script(parts) if parts else _EMPTY)


def is_whole(directory: Path, files: Sequence[str]) -> bool:
    """Whether the directory exists, and the libraries that it names still do."""
    return directory.is_dir() and all(map(os.path.exists, files))
