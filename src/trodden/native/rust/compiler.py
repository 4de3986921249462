"""The rustc to use, and whether its IR can be read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.errors import ToolchainMissing
from trodden.native.driver.toolchain import LLVM_MAJOR

_FIELD = re.compile(r"^([\w -]+): (.*)$", re.MULTILINE)
_INSTALL = "install Rust (by rustup, or your system's package of rustc)"
LINE_TABLES_SINCE = (1, 71)


@dataclass(frozen=True)
class RustCompiler:
    """A rustc: the command that starts it, its release, its host triple, and the version of its LLVM."""

    command: tuple[str, ...]
    release: tuple[int, int]
    host: str
    llvm: int

    @property
    def line_tables(self) -> str:
        """The least level of debug information that has line tables."""
        return "line-tables-only" if self.release >= LINE_TABLES_SINCE else "1"


def rustc_command(wanted: str | None, words: Sequence[str]) -> tuple[str, ...]:
    """The command that starts rustc, as named or from ``RUSTC``, with rustup's ``+toolchain``."""
    name = wanted or os.environ.get("RUSTC") or "rustc"
    found = shutil.which(name)
    if found is None:
        raise ToolchainMissing(f"{name}: no such compiler; {_INSTALL}, or name one with --trodden-rustc=PATH")
    return (found, words[0]) if words and words[0].startswith("+") else (found,)


def ask_rustc(command: Sequence[str]) -> RustCompiler:
    """The release, host and LLVM version of a rustc."""
    done = subprocess.run([*command, "-vV"], capture_output=True, text=True, check=False, close_fds=False)
    fields = dict(_FIELD.findall(done.stdout))
    release = re.match(r"(\d+)\.(\d+)", fields.get("release", ""))
    if done.returncode != 0 or release is None:
        reason = (done.stderr.strip().splitlines() or ["it does not print its version"])[0]
        raise ToolchainMissing(f"{command[0]}: is not a working rustc ({reason}); {_INSTALL}")
    version = re.match(r"\d+", fields.get("LLVM version", ""))
    if version is None:
        raise ToolchainMissing(f"{command[0]}: does not generate code with LLVM; use a rustc that does")
    llvm = int(version.group())
    if llvm > LLVM_MAJOR:
        raise ToolchainMissing(
            f"{command[0]}: rustc {fields['release']} has LLVM {llvm}; LLVM {LLVM_MAJOR} cannot read its IR,"
            f" so use a rustc with LLVM {LLVM_MAJOR} or older, such as 1.95"
        )
    found = int(release.group(1)), int(release.group(2))
    return RustCompiler(tuple(command), found, fields.get("host", ""), llvm)
