"""The linker that ``trodden rustc`` has rustc call: ``python -m trodden.commands.rustlink JOB words...``."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from trodden.commands.cc import builder_for
from trodden.errors import TroddenError
from trodden.native.driver.build import CompilerFailed
from trodden.native.driver.command_line import expand, parse
from trodden.native.rust.link import link_rust
from trodden.native.rust.units import RustJob, toolchain_for


def main(argv: Sequence[str]) -> int:
    """Link; what goes wrong is told to rustc, which tells the user."""
    gc.disable()
    try:
        job = RustJob.load(argv[0])
        builder = builder_for(parse(job.own, False), False)
        return link_rust(expand(argv[1:]), job, toolchain_for(builder.toolchain), builder.options)
    except CompilerFailed as failure:
        return failure.status
    except TroddenError as error:
        print(f"trodden: {error}", file=sys.stderr)
        return error.status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
