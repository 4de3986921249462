from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from trodden.errors import BadFile, InputMissing, LaterVersion
from trodden.weigh.heuristics.rates import (
    WL94,
    Measured,
    Rates,
    default_rates,
    load_rates,
    parse_rates,
    to_document,
)
from trodden.weigh.heuristics.registry import KEYS

GOOD: dict[str, Any] = {"format": "trodden rates", "version": 1, "name": "mine", "rates": {"pointer": 0.7}}


def test_table_1() -> None:
    assert dict(WL94.taken) == {
        "loop-branch": 0.88,
        "pointer": 0.60,
        "call": 0.78,
        "opcode": 0.84,
        "loop-exit": 0.80,
        "return": 0.72,
        "store": 0.55,
        "loop-header": 0.75,
        "guard": 0.62,
    }


def test_rates_have_names() -> None:
    assert load_rates("wl94") is WL94
    assert load_rates("calibrated") is default_rates()
    assert default_rates().name == "calibrated"
    assert set(default_rates().taken) <= KEYS


def test_rates_are_read_as_they_were_written(tmp_path: Path) -> None:
    rates = Rates(
        "mine", {"pointer": 0.7, "trips": 0.9999}, {"pointer": Measured(0.25, 0.75, 12)}, ("a", "b")
    )
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(to_document(rates)))
    assert load_rates(str(file)) == rates


def test_measurements_are_optional() -> None:
    assert parse_rates(json.dumps(GOOD), "x") == Rates("mine", {"pointer": 0.7})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": "trodden profile"}, "no file of rates"),
        ({"version": "1"}, "its version is"),
        ({"version": True}, "its version is true"),
        ({"name": 3}, "no name"),
        ({"name": ""}, "no name"),
        ({"name": "a\x1b[2J"}, "the name of the rates holds what cannot be printed"),
        ({"name": "a\nb"}, "holds what cannot be printed"),
        ({"rates": {"pointer": 10**400}}, "the rate of pointer is 1000"),
        ({"rates": []}, '"rates" is no table'),
        ({"rates": {"pointr": 0.5}}, "there is no heuristic pointr"),
        ({"rates": {"pointer": 1}}, "the rate of pointer is 1, not between 0 and 1"),
        ({"rates": {"pointer": 0}}, "the rate of pointer is 0, not between 0 and 1"),
        ({"rates": {"pointer": -0.5}}, "the rate of pointer is -0.5"),
        ({"rates": {"pointer": "0.5"}}, 'the rate of pointer is "0.5"'),
        ({"rates": {"pointer": True}}, "the rate of pointer is true"),
        ({"rates": {"pointer": float("nan")}}, "the rate of pointer is NaN"),
        ({"measured": 5}, '"measured" is no table'),
        ({"measured": {"nothing": {}}}, "there is no heuristic nothing"),
        ({"measured": {"pointer": 5}}, "what was measured of pointer is not coverage, hit_rate, branches"),
        ({"measured": {"pointer": {"coverage": 0.5, "hit_rate": None, "branches": 1}}}, "of pointer is not"),
        ({"programs": "a"}, '"programs" is no list'),
    ],
)
def test_errors_in_a_file_are_named(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    file = tmp_path / "rates.json"
    file.write_text(json.dumps(GOOD | change))
    with pytest.raises(BadFile) as caught:
        load_rates(str(file))
    assert str(file) in str(caught.value)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_files_that_are_not_tables_of_rates(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "rates.json"
    file.write_bytes(content)
    with pytest.raises(BadFile, match=r"rates\.json: is no file of rates"):
        load_rates(str(file))


def test_a_later_version_is_named() -> None:
    with pytest.raises(LaterVersion, match="x: has version 2"):
        parse_rates(json.dumps(GOOD | {"version": 2}), "x")


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "rates.json"
    file.write_text(json.dumps(GOOD) + " " * (1 << 22))
    with pytest.raises(BadFile, match="larger than any"):
        load_rates(str(file))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputMissing, match="it is not a regular file; give wl94, calibrated or a file"):
        load_rates(str(tmp_path / "pipe"))


@pytest.mark.parametrize("name", ["nowhere.json", "a\0b", ".", "/dev/zero"])
def test_a_file_that_cannot_be_read(name: str) -> None:
    with pytest.raises(InputMissing, match="cannot be read"):
        load_rates(name)
