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
_VARIABLES = {
    "__trodden_table": "trodden_common",
    "__trodden_caller": "trodden_outside",
    "__trodden_ring": "trodden_no_ring",
    "__trodden_trace": "trodden_no_trace, trodden_no_trace",
}
"""The thread-local variables that libraries with probes share, and their initial values.

Those that are loaded later use these, and need no static TLS, of which there is little.
"""
_NO_CODE = '.section .note.GNU-stack,"",@progbits\n'
_VARIABLE = """.section .tdata,"awT",@progbits
.weak {name}
.type {name},@object
.p2align 3
{name}: .8byte {value}
.size {name}, . - {name}
"""


def preload_library() -> Path:
    """The path of the library, which is kept beside the objects of the runtime."""
    toolchain = find_toolchain(choose((), os.environ, configured()).toolchain)
    path = find_runtime(toolchain, None).directory / _NAME
    if path.exists():
        return path
    with scratch() as directory:
        source = directory / "empty.s"  # which gets no probes
        defined = (_VARIABLE.format(name=name, value=value) for name, value in _VARIABLES.items())
        source.write_text("".join((*defined, _NO_CODE)))
        status = builder(["-shared", str(source), "-o", str(path)], False).run()
        if status:
            raise BuildFailed(f"--preload: the library cannot be built with {toolchain.name}", "")
    return path
