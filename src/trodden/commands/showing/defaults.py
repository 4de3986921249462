"""What the configuration file says about showing results, as defaults for the options of the verbs."""

from __future__ import annotations

from typing import Any

from trodden.commands.showing.presentation import FORMATS
from trodden.config_file import READING, Configured, configured
from trodden.errors import UsageError
from trodden.report.render.screen import COLORS

_WORDS = {"format": FORMATS, "color": COLORS}


def reading_defaults() -> dict[str, Any]:
    """The values by the names of the parameters; every key of the file has to be known."""
    file = configured()
    if file is None:
        return {}
    if not set(file.values) <= set(READING):
        # Only the verbs that build something need the others; a mistyped key is an error everywhere.
        from trodden.native.options.given import settings

        for _ in settings(file):
            pass
    return {
        key.replace("-", "_"): _checked(file, key, value)
        for key, value in file.values.items()
        if key in READING
    }


def _checked(file: Configured, key: str, value: Any) -> Any:
    if key in _WORDS:
        if value not in _WORDS[key]:
            raise UsageError(f"{file.where(key)}: choose one of {', '.join(_WORDS[key])}")
        return value
    if key == "pager":
        if not isinstance(value, bool):
            raise UsageError(f"{file.where(key)}: has to be true or false")
        return value
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{file.where(key)}: has to be a text, or a list of texts")
    return tuple(texts)
