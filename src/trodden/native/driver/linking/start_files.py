"""What the embedded toolchain adds to a link: start files, the C library, libc++, compiler-rt.

``zig cc`` has them, or builds them on first use, but takes few of the linker's flags.  So it is asked once
for each kind of link which line it would give to ld.lld, and the answer is kept in the cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trodden import temporary
from trodden.errors import ToolchainMissing
from trodden.native.driver.linking.library_directory import by_name, is_whole, make_directory
from trodden.native.driver.toolchain import Toolchain, cache_dir, remember

_FORMAT = 2
"""The format of cached answers; those of another format are not read."""
_OTHER = "choose clang as the toolchain"
_PROGRAM = "int main(void) { return 0; }\n"
_VALUED = frozenset({"-m", "-o", "-z", "-L", "--entry", "--dynamic-linker", "-mllvm", "-soname"})


@dataclass(frozen=True)
class Kind:
    """What the answer depends on: the language, and the words that say for what kind of program it is."""

    cxx: bool
    words: tuple[str, ...]


@dataclass(frozen=True)
class StartFiles:
    """The words around those of the user, in order, and whether the program is static or relocatable.

    ``options`` are for the linker, and so are the flags among ``libraries``.  These are found in the
    directory, which has names for ``files``, and in those that are ``searched``.
    """

    start: tuple[str, ...]
    options: tuple[str, ...]
    directory: str
    searched: tuple[str, ...]
    libraries: tuple[str, ...]
    files: tuple[str, ...]
    end: tuple[str, ...]
    static: bool
    pie: bool

    @property
    def complete(self) -> bool:
        """Whether all the files still exist."""
        return is_whole(Path(self.directory), (*self.start, *self.files, *self.end))


def start_files(toolchain: Toolchain, kind: Kind, compile_: Sequence[str]) -> StartFiles:
    """The start files and libraries for a kind of link; ``compile_`` compiles a C file for its target."""
    key = f"{_FORMAT}|{toolchain.compiler[0]}|{toolchain.identity}|{kind}"
    directory = cache_dir() / f"link-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    answer = directory.with_suffix(".json")
    try:
        known: dict[str, Any] = json.loads(answer.read_bytes())
        lists: Any = {key: tuple(value) for key, value in known.items() if isinstance(value, list)}
        found = StartFiles(**(known | lists))
        if found.complete:
            return found
    except (OSError, ValueError, TypeError, AttributeError):
        pass
    found = _read(*_ask(toolchain, kind, compile_), directory)
    remember(answer, json.dumps(asdict(found)).encode())
    return found


def _ask(toolchain: Toolchain, kind: Kind, compile_: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before and after the user's in the line that ``zig cc`` gives to the linker."""
    with temporary.directory("trodden-") as scratch:
        source, made = Path(scratch, "main.c"), Path(scratch, "main.o")
        source.write_text(_PROGRAM)
        environment = toolchain.environment
        _run([*compile_, "-fPIC", "-w", "-c", str(source), "-o", str(made)], environment)
        linker = toolchain.linker_cxx if kind.cxx else toolchain.linker
        # Its defaults depend on -O: a sanitizer runtime, or collection of unreferenced sections.
        words = ["-O2", "-Wl,--no-gc-sections", *kind.words, "-v", str(made)]
        text = _run([*linker, *words, "-o", str(Path(scratch, "main"))], environment)
    lines = [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("ld.lld ")]
    line = next((line for line in reversed(lines) if str(made) in line), None)
    if line is None:
        what = " ".join(kind.words) or "this machine"
        raise ToolchainMissing(
            f"the embedded toolchain cannot link for {what}; choose clang as the toolchain"
        )
    return line[: line.index(str(made))], line[line.index(str(made)) + 1 :]


def _read(before: Sequence[str], after: Sequence[str], directory: Path) -> StartFiles:
    start: list[str] = []
    options: list[str] = []
    searched: list[str] = []
    for option, value in _options(before):
        if option == "-L" and value is not None:
            searched.append(value)
        elif option in ("--dynamic-linker", "-z") and value is not None:
            options += [option, value]
        elif option.startswith("-z"):
            options.append(option)
        elif option.endswith(".o"):
            start.append(option)
    last = len(after)
    while last > 0 and after[last - 1].endswith(".o"):
        last -= 1
    # The one directory here is that of relative names.
    libraries = [word for word in after[:last] if not word.startswith("-L")]
    return StartFiles(
        start=tuple(start),
        options=tuple(options),
        directory=str(directory),
        searched=tuple(searched),
        libraries=tuple(map(by_name, libraries)),
        files=tuple(make_directory(directory, libraries)),
        end=tuple(after[last:]),
        static="-static" in before,
        pie="-pie" in before,
    )


def _options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    following = iter(words)
    for word in following:
        yield word, next(following, None) if word in _VALUED else None


def _run(command: Sequence[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=os.sep)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise ToolchainMissing(f"the embedded toolchain cannot link: {reason}; {_OTHER}")
    return done.stderr
