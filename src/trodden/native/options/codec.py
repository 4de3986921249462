"""Options as a JSON object, for processes that another program starts: cargo a compiler, rustc a linker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trodden.native.options.declarations import OPTIONS, Options
from trodden.native.options.option import Option
from trodden.native.options.values import Text


def encode_options(options: Options) -> dict[str, object]:
    """The options by name; files by their full paths, for the reader may work in another directory."""
    return {name: _encoded(option, getattr(options, option.keyword)) for name, option in OPTIONS.items()}


def _encoded(option: Option[Any], value: Any) -> object:
    if isinstance(option.values, Text):
        return option.values.absolute(value)
    return list(value) if isinstance(value, tuple) else value


def decode_options(document: Mapping[str, object]) -> Options:
    """The options again; :class:`ValueError` or :class:`KeyError` if the object is not one of ours."""
    return Options(**{option.keyword: _decoded(option, document[name]) for name, option in OPTIONS.items()})


def _decoded(option: Option[Any], value: object) -> Any:
    return None if value is None and option.default is None else option.values.read(value)
