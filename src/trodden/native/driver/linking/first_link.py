"""The first link with the embedded toolchain, which builds the libraries that it needs and keeps them.

It says nothing while it does so, and a C++ library takes a minute or two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from trodden.native.driver.toolchain import Toolchain, cache_dir, remember, target_in
from trodden.waiting import waiting

_VARIANT = ("-f", "-m", "-s", "-p", "-n")
"""How the flags begin that may make the toolchain build another variant of its libraries."""


@contextmanager
def first_link(toolchain: Toolchain, cxx: bool, words: Sequence[str]) -> Iterator[None]:
    """Run a link; if it is the first one of its kind, a line says what takes so long.

    A toolchain in another place, as another virtual environment has it, builds its libraries again.
    """
    if not toolchain.embedded:
        yield
        return
    variant = sorted({word for word in words if word.startswith(_VARIANT)})
    key = repr((toolchain.identity, toolchain.compiler[0], cxx, target_in(words), variant))
    stamp = cache_dir() / f"linked-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    if stamp.exists():
        yield
        return
    built = "its C++ library, which takes a minute or two" if cxx else "the start files of the C library"
    with waiting(f"the first link of this kind: the embedded toolchain builds {built}, once"):
        yield
    remember(stamp, b"")
