"""The runtime as a library that a program without probes is started with.

The interposers of an instrumented library are found by the calls of a program without probes only if they
are there before the C library, which they are not in an extension that is loaded later: Python's ``os._exit``
ends the process unseen.  This library has the runtime and no code of its own; libraries with probes that are
loaded later use its instance.
"""

from __future__ import annotations

import os
from pathlib import Path

from trodden.api.builds import builder
from trodden.config_file import configured
from trodden.errors import BuildFailed
from trodden.native.driver.atomic_output import scratch
from trodden.native.driver.runtime_build import find_runtime
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.options.given import choose

_NAME = "preload.so"


def preload_library() -> Path:
    """The path of the library, which is kept beside the objects of the runtime."""
    toolchain = find_toolchain(choose((), os.environ, configured()).toolchain)
    path = find_runtime(toolchain, None).directory / _NAME
    if path.exists():
        return path
    with scratch() as directory:
        source = directory / "empty.s"  # which gets no probes
        source.write_text('.section .note.GNU-stack,"",@progbits\n')
        status = builder(["-shared", str(source), "-o", str(path)], False).run()
        if status:
            raise BuildFailed(f"--preload: the library cannot be built with {toolchain.name}", "")
    return path
