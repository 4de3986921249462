"""One crate, described for the process that links it: rustc starts that one, so it is passed on in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trodden.errors import BadFile
from trodden.native.options.codec import decode_options, encode_options
from trodden.native.options.declarations import Options


@dataclass(frozen=True)
class RustJob:
    """A crate: its root source, how it is to be optimised, and the linker underneath.

    ``flags`` are for clang.  A ``bare`` linker is called without a compiler in front.  ``doc_tests``: the
    sources are tests in comments, which rustdoc compiles, runs and removes.
    """

    options: Options
    source: str
    flags: tuple[str, ...]
    target: str | None
    linker: str | None
    bare: bool
    doc_tests: bool = False

    def save(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(json.dumps(vars(self) | {"options": encode_options(self.options)}))

    @staticmethod
    def load(path: str) -> RustJob:
        """Read it from a file."""
        try:
            document: Mapping[str, Any] = json.loads(Path(path).read_text())
            parts = {"options": decode_options(document["options"]), "flags": tuple(document["flags"])}
            return RustJob(**{**document, **parts})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadFile(f"{path}: does not describe a crate ({error}); build it again") from error
