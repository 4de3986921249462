"""Links by the embedded toolchain: its clang calls its ld.lld, which takes every flag that lld knows.

clang's driver gets the user's words as they are.  What it would add (start files and libraries of this
machine) is replaced by what ``zig cc`` adds.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence

from trodden.native.driver import libstdcxx
from trodden.native.driver.linking.linker_words import for_linker
from trodden.native.driver.linking.start_files import Kind, StartFiles, start_files
from trodden.native.driver.other_instrumentation import runtimes
from trodden.native.driver.toolchain import Toolchain, cache_dir, remember, target_in, without_target

_NO_START = frozenset({"-nostdlib", "-nostartfiles"})
_NO_LIBRARIES = frozenset({"-nostdlib", "-nodefaultlibs"})
_NO_CXX = "-nostdlib++"
_NO_CXX_LIBRARY = _NO_LIBRARIES | {_NO_CXX}
_NO_C = "-nolibc"
_STATIC = frozenset({"-static", "-static-pie"})
_PIE = frozenset({"-pie", "-static-pie"})
_SHAPE = _STATIC | _PIE | {"-no-pie", "-nopie", "-dynamic"}
_DECIDED_HERE = _NO_START | _NO_LIBRARIES | _SHAPE | {_NO_C, _NO_CXX}
_CXX_LIBRARIES = frozenset({"-lc++", "-lc++abi", "-lstdc++"})
_UNWINDERS = frozenset({"-lunwind", "-lgcc_s", "-lgcc_eh"})
_COMPILER_LIBRARY = "-lcompiler_rt"
_MACHINE_FLAGS = ("-m32", "-m64", "-mx32", "-march=", "-mcpu=", "-mabi=", "-mfloat-abi=", "-mthumb", "-marm")
_PROCESSOR = ("-march=", "-mcpu=")
_LOCAL = "/usr/local/lib"


def embedded_link(toolchain: Toolchain, cxx: bool, words: Sequence[str]) -> list[str]:
    """The command that links ``words``, which name the output too."""
    flags = frozenset(words)
    compile_ = toolchain.compile(False, words)
    triple = [flag for flag in compile_ if flag.startswith("--target=")]
    command = [*toolchain.compiler, *triple, "-nostdlib", f"--ld-path={embedded_linker(toolchain)}"]
    # The driver would look for the runtimes of sanitizers in a directory of its own, which has none.
    command += ["-fno-sanitize-link-runtime", "-Qunused-arguments"]
    if target_in(words) is not None and not any(word.startswith("--sysroot") for word in words):
        # Libraries of this machine are not for another one.
        command.append(f"--sysroot={_empty_directory()}")
    given = [word for word in without_target(words) if word not in _DECIDED_HERE]
    if "-r" in flags:
        return [*command, *given]
    system_cxx = cxx and libstdcxx.FLAG in flags
    added = start_files(toolchain, _kind(cxx and not system_cxx, flags, words), compile_)
    return [
        *command,
        *_shape(flags, added),
        # GNU ld accepts a version script with names that are not defined.
        *for_linker(*added.options, "--undefined-version"),
        *([] if flags & _NO_START else added.start),
        *given,
        *(libstdcxx.libraries(flags) if system_cxx and not flags & _NO_CXX_LIBRARY else []),
        *(f"-L{directory}" for directory in (added.directory, *added.searched)),
        *([f"-L{_LOCAL}"] if target_in(words) is None else []),
        *_libraries(flags, added),
        *([] if flags & _NO_START else added.end),
    ]


def _kind(cxx: bool, flags: frozenset[str], words: Sequence[str]) -> Kind:
    target = target_in(words)
    kind = [] if target is None else ["-target", target]
    if "-shared" in flags:
        kind.append("-shared")
    else:
        kind += ["-static"] if flags & _STATIC else []
        kind += ["-pie"] if "-static-pie" in flags or ("-pie" in flags and "-static" not in flags) else []
    kind += ["-dynamic"] if "-dynamic" in flags else []
    kind += ["-lunwind"] if flags & _UNWINDERS and libstdcxx.FLAG not in flags else []
    kind += [word for word in words if word.startswith(_MACHINE_FLAGS)]
    if not any(word.startswith(_PROCESSOR) for word in words):
        # zig would build its libraries for the processor of this machine; no other might run the program.
        kind.append("-mcpu=baseline")
    kind += runtimes(words)
    return Kind((cxx and _NO_CXX not in flags) or _names_libcxx(flags), tuple(kind))


def _names_libcxx(flags: frozenset[str]) -> bool:
    return bool(flags & _CXX_LIBRARIES) and libstdcxx.FLAG not in flags


def _shape(flags: frozenset[str], added: StartFiles) -> list[str]:
    """Whether the program is static and relocatable: the target may require what the user has not said."""
    if "-shared" in flags:
        return []
    if added.static:
        return ["-static-pie" if added.pie else "-static"]
    return ["-pie" if added.pie else "-no-pie"]


def _libraries(flags: frozenset[str], added: StartFiles) -> list[str]:
    if flags & _NO_LIBRARIES:
        return []
    if _NO_C in flags:
        return [_COMPILER_LIBRARY]
    # The user's words may have left the linker in another state.
    state = ["--no-whole-archive", *([] if added.static else ["-Bdynamic"])]
    return for_linker(*state, *added.libraries)


def embedded_linker(toolchain: Toolchain) -> str:
    """The path of a program that is ld.lld: the embedded toolchain has it as a subcommand."""
    compiler = toolchain.compiler[0]
    path = cache_dir() / f"ld.lld-{hashlib.sha256(compiler.encode()).hexdigest()[:16]}"
    text = f'#!/bin/sh\nexec {shlex.quote(compiler)} ld.lld "$@"\n'.encode()
    try:
        if path.read_bytes() == text:
            return str(path)
    except OSError:
        pass
    remember(path, text, executable=True)
    return str(path)


def _empty_directory() -> str:
    directory = cache_dir() / "empty"
    directory.mkdir(exist_ok=True)
    return str(directory)
