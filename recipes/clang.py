"""A clang with the runtimes of its sanitizers: Debian's, whatever the machine has."""

from __future__ import annotations

from recipes.debian import unpacked

_PACKAGES = ("clang-14", "libclang-common-14-dev", "libclang-rt-14-dev")


def clang() -> str:
    """The path of the compiler."""
    return str(unpacked(*_PACKAGES) / "usr/lib/llvm-14/bin/clang")
