"""The configuration file of a project: ``trodden.toml``, or ``[tool.trodden]`` in ``pyproject.toml``.

It is searched for in the working directory and those above it; the nearest one is used, alone.  The compilers
look for it with every file of a build, so the parser is imported only where there is something to parse.

A setting names the compiler that is executed.  So a file that somebody else has put into a directory where
everybody may write, as ``/tmp`` is, does not count.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trodden.errors import UsageError
from trodden.regular_files import open_regular

OWN, SHARED = "trodden.toml", "pyproject.toml"
READING = ("format", "color", "pager", "include", "exclude", "source-dir")
"""The keys that are for the verbs that show results; all others are options of instrumentation."""
_TABLE = b"tool.trodden"


@dataclass(frozen=True)
class Configured:
    """The settings in a file, by their keys."""

    path: str
    values: Mapping[str, Any]

    def where(self, key: str) -> str:
        """What a message calls a setting."""
        return f"{self.path}: {key}"


def configured(directory: str | None = None) -> Configured | None:
    """The settings for a directory, by default the working directory; None if there is no file with any."""
    try:
        above = os.path.abspath(directory or os.getcwd())
    except FileNotFoundError:
        return None
    while True:
        for name in (OWN, SHARED):
            found = _read(os.path.join(above, name), name == OWN)
            if found is not None:
                return found
        parent = os.path.dirname(above)
        if parent == above:
            return None
        above = parent


def _read(path: str, own: bool) -> Configured | None:
    """The settings in a file; None if there is no such file, or it has none for us."""
    try:
        if not _is_trusted(path):
            return None
        with open_regular(path) as stream:
            content = stream.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        if own:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
        return None
    if not own and _TABLE not in content and b"trodden" not in content:
        return None
    import tomllib

    try:
        document = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if own or _TABLE in content:
            raise UsageError(f"{path}: not valid TOML: {error}") from None
        return None
    values = document if own else _table(document, path)
    return None if values is None else Configured(path, values)


def _is_trusted(path: str) -> bool:
    """Whether a file is the user's own or the administrator's, or lies where not everybody may write."""
    if os.stat(path).st_uid in (os.geteuid(), 0):
        return True
    return not os.stat(os.path.dirname(path)).st_mode & stat.S_IWOTH


def _table(document: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    tools = document.get("tool")
    found = tools.get("trodden") if isinstance(tools, dict) else None
    if found is not None and not isinstance(found, dict):
        raise UsageError(f"{path}: tool.trodden: has to be a table, [tool.trodden]")
    return found
