"""The command that links, with either kind of toolchain."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.native.driver.toolchain import Toolchain


def link_command(toolchain: Toolchain, cxx: bool, words: Sequence[str]) -> list[str]:
    """The command that links ``words``, which name the output too."""
    if not toolchain.embedded:
        return [*(toolchain.linker_cxx if cxx else toolchain.linker), *words]
    from trodden.native.driver.linking.embedded_link import embedded_link

    return embedded_link(toolchain, cxx, words)
