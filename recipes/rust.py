"""Rust: the machine's own, or else that of Debian."""

from __future__ import annotations

import shutil

from recipes.debian import environment, unpacked


def rust_environment() -> dict[str, str]:
    """The variables with which ``rustc`` and ``cargo`` are found; none if they are installed."""
    if shutil.which("rustc") is not None and shutil.which("cargo") is not None:
        return {}
    unpacked("cargo", "rustc", "libstd-rust-dev")
    return environment("cargo")
