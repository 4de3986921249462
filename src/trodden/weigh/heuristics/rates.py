"""The rate of each heuristic: tables of hit rates, as data (WL94 §3.1, Table 1).

A heuristic that a table does not name is not used.  So the paper's own table gives the paper's own estimate,
whatever other heuristics there are, and a calibrated table uses those that it names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeGuard

from trodden.errors import BadFile, InputMissing, LaterVersion
from trodden.regular_files import open_regular
from trodden.weigh.heuristics.registry import KEYS

_FORMAT, _VERSION = "trodden rates", 1
_SHIPPED = "calibrated"
_LEAST = 1e-7
"""How close to 0 or 1 a rate may be: many heuristics that agree must leave a positive probability."""
_MEASURED = ("coverage", "hit_rate", "branches")
_HIGHEST = 1e300
_LARGEST = 1 << 22
"""Bytes: a hundred times what a table of all heuristics takes."""


@dataclass(frozen=True)
class Measured:
    """What calibration measured of a heuristic: to which share of branches it applied, how often rightly."""

    coverage: float
    hit_rate: float
    branches: int


@dataclass(frozen=True)
class Rates:
    """For each heuristic that is used, the probability that its prediction is right."""

    name: str
    taken: Mapping[str, float]
    measured: Mapping[str, Measured] = field(default_factory=dict)
    programs: Sequence[str] = ()


WL94 = Rates(
    "wl94",
    {
        "loop-branch": 0.88,
        "pointer": 0.60,
        "call": 0.78,
        "opcode": 0.84,
        "loop-exit": 0.80,
        "return": 0.72,
        "store": 0.55,
        "loop-header": 0.75,
        "guard": 0.62,
    },
)
"""Table 1 of the paper."""


@cache
def default_rates() -> Rates:
    """The table that comes with the package, fitted to measured programs."""
    from importlib.resources import files

    text = files("trodden.weigh.heuristics").joinpath("calibrated.json").read_text(encoding="utf-8")
    return parse_rates(text, _SHIPPED)


def load_rates(path_or_name: str) -> Rates:
    """The table of that name (``wl94``, ``calibrated``), or else the one in that file."""
    if path_or_name == WL94.name:
        return WL94
    if path_or_name == _SHIPPED:
        return default_rates()
    try:
        with open_regular(path_or_name) as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise InputMissing(
            f"{path_or_name}: cannot be read: {error.strerror}; "
            "give wl94, calibrated or a file of trodden calibrate"
        ) from error
    if len(data) > _LARGEST:
        raise BadFile(f"{path_or_name}: is no file of rates: it is larger than any of them")
    try:
        return parse_rates(data.decode("utf-8"), path_or_name)
    except UnicodeDecodeError as error:
        raise BadFile(f"{path_or_name}: is no file of rates: it is not text") from error


def parse_rates(text: str, source: str) -> Rates:
    """Read a table; ``source`` names it where something is wrong."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{source}: is no file of rates: it is not JSON ({error})") from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise BadFile(f'{source}: is no file of rates: it has no "format": "{_FORMAT}"')
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise BadFile(f"{source}: is no file of rates: its version is {json.dumps(version)}")
    if version > _VERSION:
        raise LaterVersion(f"{source}: has version {version} of the format; this trodden reads {_VERSION}")
    name = document.get("name")
    if not isinstance(name, str) or not name:
        raise BadFile(f"{source}: the rates have no name")
    if not name.isprintable():
        raise BadFile(f"{source}: the name of the rates holds what cannot be printed")
    programs = document.get("programs", [])
    if not isinstance(programs, list) or not all(isinstance(program, str) for program in programs):
        raise BadFile(f'{source}: "programs" is no list of names')
    return Rates(name, _taken(document, source), _measured(document, source), tuple(programs))


def to_document(rates: Rates) -> dict[str, object]:
    """A table as what a file of rates holds."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "name": rates.name,
        "rates": dict(rates.taken),
        "measured": {
            key: {"coverage": seen.coverage, "hit_rate": seen.hit_rate, "branches": seen.branches}
            for key, seen in rates.measured.items()
        },
        "programs": list(rates.programs),
    }


def _taken(document: Mapping[str, object], source: str) -> dict[str, float]:
    rates = document.get("rates")
    if not isinstance(rates, dict):
        raise BadFile(f'{source}: "rates" is no table of heuristics')
    found: dict[str, float] = {}
    for key, rate in rates.items():
        _known(key, source)
        if not _is_number(rate) or not _LEAST <= rate <= 1 - _LEAST:
            raise BadFile(f"{source}: the rate of {key} is {json.dumps(rate)}, not between 0 and 1")
        found[key] = float(rate)
    return found


def _measured(document: Mapping[str, object], source: str) -> dict[str, Measured]:
    measured = document.get("measured", {})
    if not isinstance(measured, dict):
        raise BadFile(f'{source}: "measured" is no table of heuristics')
    found: dict[str, Measured] = {}
    for key, seen in measured.items():
        _known(key, source)
        parts = seen if isinstance(seen, dict) else {}
        numbers = [float(part) for part in map(parts.get, _MEASURED) if _is_number(part)]
        if len(numbers) < len(_MEASURED):
            raise BadFile(f"{source}: what was measured of {key} is not {', '.join(_MEASURED)}")
        found[key] = Measured(numbers[0], numbers[1], int(numbers[2]))
    return found


def _known(key: str, source: str) -> None:
    if key not in KEYS:
        raise BadFile(f"{source}: there is no heuristic {key}; trodden calibrate lists those there are")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _HIGHEST
