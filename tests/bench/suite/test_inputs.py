"""Generated inputs: reproducible, and with the properties that they promise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from bench.suite.documents import DOCUMENTS
from bench.suite.generators import GENERATORS
from bench.suite.inputs import grammars, json_lines, pictures, redis_commands, yaml_pieces
from bench.suite.jpeg import CJPEG
from bench.suite.lempel import COMPRESS
from bench.suite.model import CASES, SuiteProgram
from bench.suite.redis import REDIS
from bench.suite.threaded import LBZIP2
from bench.support.hashing import contents

PROGRAMS = {each.name: each for each in (COMPRESS, CJPEG, *GENERATORS, *DOCUMENTS, LBZIP2, REDIS)}

PINNED = {
    "compress": ["b0d9ff5861379564", "0af971e4d708878d", "6414e2f75a644be6"],
    "cjpeg": ["1f59d951ad189e8a", "0bb1232c15dba430", "9e50dc789eeca917"],
    "byacc": ["f13919f2ee2970ea", "9f04797f5f830a5f", "162629299cce9b57"],
    "gperf": ["8e11efd4482ad728", "75407ea5403693fb", "4ac894ccb4234883"],
    "json": ["4883f85600252de1", "8c648c0796951d25", "e9223e9e99e3bbbb"],
    "yaml": ["c5bb48591125f287", "62f3d0a14c7aa8ed", "3856cfb5c927ede0"],
    "lbzip2": ["888a07db80d6d3a0", "ee523ef15f1860bb", "4f3503605a8a313e"],
    "redis": ["8a4272bf70dbb1f5", "bea60950d54d41ef", "af657bb78ea99cde"],
}


def _generated(program: SuiteProgram, directory: Path) -> list[str]:
    found = []
    for case in CASES:
        files = directory / case
        files.mkdir()
        program.case(case).files(files)
        found.append(contents(files)[:16])
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_inputs_are_the_same_bytes_everywhere(name: str, tmp_path: Path) -> None:
    assert _generated(PROGRAMS[name], tmp_path) == PINNED[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_file_that_a_case_names_is_generated(name: str, tmp_path: Path) -> None:
    for case in CASES:
        files = tmp_path / case
        files.mkdir()
        PROGRAMS[name].case(case).files(files)
        named = [word[1:] for word in PROGRAMS[name].case(case).arguments if word.startswith("@")]
        assert all((files / each).stat().st_size > 1000 for each in named)


@pytest.mark.parametrize("paint", [pictures.drawing, pictures.landscape])
def test_a_picture_has_the_requested_size_and_many_colours(
    paint: Callable[[Random, int, int], bytes],
) -> None:
    picture = paint(Random(1), 90, 60)
    head = b"P6\n90 60\n255\n"
    assert picture.startswith(head)
    dots = picture[len(head) :]
    assert len(dots) == 3 * 90 * 60
    assert len({dots[at : at + 3] for at in range(0, len(dots), 3)}) > 100


def test_a_grammar_defines_every_symbol_that_it_uses() -> None:
    head, rules, _ = grammars.grammar(Random(1), 12, 8).split("%%")
    rules = re.sub(r"\{[^{}]*\}|'.'", " ", rules)
    defined = set(re.findall(r"^(\w+) :", rules, re.MULTILINE))
    declared = set(re.findall(r"\b(?:[A-Z][A-Z_0-9]*)\b", head))
    used = set(re.findall(r"\w+", rules)) - {"error"}
    assert used == defined | (used & declared)
    assert {f"statement_{kind}" for kind in range(12)} <= defined


def test_keywords_are_all_different() -> None:
    rows = grammars.keyword_table(Random(2), 300).split("%%\n")[1].splitlines()
    assert len({row.partition(",")[0] for row in rows}) == len(rows) == 300


@pytest.mark.parametrize("lines", [json_lines.orders, json_lines.trees])
def test_some_lines_are_malformed_and_most_are_not(lines: Callable[[Random, int], list[str]]) -> None:
    broken = 0
    for line in lines(Random(3), 200):
        assert "\n" not in line
        try:
            json.loads(line)
        except ValueError:
            broken += 1
    assert 5 < broken < 80


@pytest.mark.parametrize("make", [yaml_pieces.settings, yaml_pieces.nests])
def test_there_are_as_many_pieces_as_requested(make: Callable[[Random, int], str]) -> None:
    pieces = make(Random(4), 30).split(yaml_pieces.BETWEEN)
    assert len(pieces) == 30
    assert len(set(pieces)) == 30


@pytest.mark.parametrize("make", [redis_commands.shop, redis_commands.laboratory])
def test_commands_are_encoded_as_redis_reads_them(
    make: Callable[[Random, int], Iterator[redis_commands.Command]],
) -> None:
    commands = list(make(Random(5), 400))
    content = redis_commands.encoded(iter(commands))
    read = []
    at = 0
    while at < len(content):
        words = []
        number, at = _header(content, at, b"*")
        for _ in range(number):
            size, at = _header(content, at, b"$")
            words.append(content[at : at + size].decode())
            at += size + 2
        read.append(tuple(words))
    assert read == [*commands, ("QUIT",)]


def _header(content: bytes, at: int, kind: bytes) -> tuple[int, int]:
    end = content.index(b"\r\n", at)
    assert content[at : at + 1] == kind
    return int(content[at + 1 : end]), end + 2


def test_no_reply_depends_on_random_numbers_or_the_clock() -> None:
    loose = {
        "SPOP",
        "SRANDMEMBER",
        "RANDOMKEY",
        "HRANDFIELD",
        "TTL",
        "PTTL",
        "TIME",
        "INFO",
        "SMEMBERS",
        "KEYS",
    }
    loose |= {"HKEYS", "HVALS", "SCAN", "OBJECT", "SINTER", "SUNION", "SDIFF"}
    for make in (redis_commands.shop, redis_commands.laboratory):
        assert not loose & {command[0] for command in make(Random(6), 2_000)}
