"""``trodden rustc``: rustc with probes in its output; and the verbs that cargo and rustc themselves call."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from trodden.api.rust import compile_crate, link_crate
from trodden.commands.cc import HELP
from trodden.config_file import configured
from trodden.native.options.given import choose, compiler_flags
from trodden.native.options.option import FLAG_PREFIX
from trodden.native.rust.scripts import wrapped_options
from trodden.waiting import quiet_unless_at_a_terminal

_RUSTC = "rustc"
_RUSTC_FLAG = f"{FLAG_PREFIX}{_RUSTC}="


def main(argv: Sequence[str]) -> int:
    """Compile and link as ``argv`` says; return the exit status."""
    if HELP in argv:
        from trodden.commands.usage import compiler_usage

        sys.stdout.write(compiler_usage("rustc"))
        return 0
    gc.disable()
    quiet_unless_at_a_terminal()
    own = [word for word in argv if word.startswith(FLAG_PREFIX)]
    named = next((word[len(_RUSTC_FLAG) :] for word in own if word.startswith(_RUSTC_FLAG)), None)
    flags = compiler_flags((word for word in own if not word.startswith(_RUSTC_FLAG)), (_RUSTC,))
    words = [word for word in argv if not word.startswith(FLAG_PREFIX)]
    return compile_crate(named, words, choose(flags, os.environ, configured()))


def wrapper(argv: Sequence[str]) -> int:
    """Compile for cargo: ``argv`` are the file with the options, the path of rustc, and rustc's words."""
    gc.disable()
    options, rustc, *words = argv
    return compile_crate(rustc, words, wrapped_options(options), by_cargo=True)


def linker(argv: Sequence[str]) -> int:
    """Link for rustc: ``argv`` are the file that describes the crate, and the linker's words."""
    gc.disable()
    job, *words = argv
    return link_crate(job, words)
