"""trodden: exactly which blocks, edges and paths a program has walked, and how often."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trodden.profile.model import Profile

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(path: str | os.PathLike[str]) -> Profile:
    """Read a profile from a ``.trod`` file."""
    from trodden.profile.store import load as read

    return read(path)
