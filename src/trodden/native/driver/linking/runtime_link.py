"""The runtime as part of a link: its objects, and what a module exports so that instances meet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trodden.native.driver.linking.linker_words import for_linker, linker_options
from trodden.native.driver.linking.version_scripts import with_exports
from trodden.native.driver.runtime_build import SHARED_FUNCTIONS, SHARED_VARIABLES, Runtime, find_runtime
from trodden.native.driver.toolchain import Toolchain, target_in

_INTERPOSED = (
    *("__pthread_create", "__pthread_getattr_np", "__libc_siglongjmp", "__sigaction"),
    *("__getcontext", "__swapcontext", "__setcontext", "__makecontext"),
    *("__posix_spawn", "__posix_spawnp", "__libc_system", "_IO_new_popen"),
    *("___pthread_register_cancel", "___pthread_register_cancel_defer", "pthread_attr_getsigmask_np"),
    *("__pthread_cancel", "__pthread_setcanceltype"),
    *("__setuid", "__setgid", "__setreuid", "__setregid", "__setresuid", "__setresgid", "__setxid"),
)
"""The other names of interposed functions in a static C library, and what interposers call if it is there."""
_DYNAMIC_ONLY = "interpose-dynamic_sigsetjmp.o"
"""Interposers of what a static C library has under no other name."""
_BINDING = ("-Bsymbolic", "--Bsymbolic", "-dynamic-list", "--dynamic-list")
"""Flags by which a library binds calls to its own definitions."""


def with_runtime(toolchain: Toolchain, words: Sequence[str], directory: Path) -> list[str]:
    """The words of a link, taken apart, with the runtime; scripts for the linker go into ``directory``."""
    if "-r" in words:
        return list(words)
    runtime = find_runtime(toolchain, target_in(words))
    kept = [word for word in words if not word.startswith(f"{runtime.directory}/")]
    kept = with_exports(kept, directory, lambda: runtime.exports)
    return [*kept, *runtime_words(toolchain, runtime, kept, directory)]


def runtime_words(
    toolchain: Toolchain, runtime: Runtime, words: Sequence[str], directory: Path, filled: bool = False
) -> list[str]:
    """What adds the runtime to a link; ``filled`` is whether the padding needs contents (GNU ld)."""
    if "-shared" in words:
        return [*runtime.objects, *_preemptible(runtime, words, directory)]
    linked = [*runtime.objects, runtime.filled_padding if filled else runtime.padding]
    if is_static(toolchain, words):
        # A static C library has the interposed functions under other names, if these are requested.
        requested = [piece for name in _INTERPOSED for piece in ("-u", name)]
        kept = [word for word in linked if Path(word).name != _DYNAMIC_ONLY]
        return [*kept, *for_linker(*requested, "--eh-frame-hdr")]
    exported = (*SHARED_FUNCTIONS, *SHARED_VARIABLES)
    return [*linked, *for_linker(*(f"--export-dynamic-symbol={name}" for name in exported))]


def _preemptible(runtime: Runtime, words: Sequence[str], directory: Path) -> list[str]:
    """The flags by which a library that binds its calls to itself still calls the leader of the process."""
    if not any(option.startswith(_BINDING) for _, option in linker_options(words)):
        return []
    made = directory / "preemptible.list"
    made.write_text("{\n" + "".join(f"  {name};\n" for name in runtime.exports) + "};\n")
    return for_linker(f"--export-dynamic-symbol-list={made}")


def is_static(toolchain: Toolchain, words: Sequence[str]) -> bool:
    """Whether these words link a static program."""
    if "-static" in words or "-static-pie" in words:
        return True
    # With a target that does not name glibc, the embedded toolchain links its own static C library.
    target = target_in(words)
    return toolchain.embedded and target is not None and "gnu" not in target and "-dynamic" not in words
