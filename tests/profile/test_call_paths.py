"""Call paths: from raw files to a profile, their names, and exports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.profile.making import elf_bytes, function, pack_unit, raw_bytes, unit_counts_of, unit_of
from trodden.collect.call_paths import CallPath
from trodden.commands.main import main
from trodden.errors import BadFile, UsageError
from trodden.export.folded import to_folded
from trodden.export.json_document import to_document
from trodden.profile.assemble import assemble
from trodden.profile.call_paths import named_call_paths
from trodden.profile.from_runs import collect
from trodden.profile.model import NamedCallPath, Profile
from trodden.profile.store.call_path_codec import from_columns, to_columns
from trodden.profile.store.trod import save
from trodden.program.checked import ColumnError

ROOT = 0xFFFFFFFF
ONE = unit_of(function("main", "a>exit"), function("parse", "a>exit"), function("next", "a>exit"))
TWO = unit_of(function("swap", "a>exit"), files=("/src/b.c",))
Calls = Sequence[tuple[int, int, int, int, int]]


def _collected(tmp_path: Path, *processes: Calls) -> Profile:
    program = tmp_path / "prog"
    program.write_bytes(elf_bytes({".trodden": pack_unit(ONE) + pack_unit(TWO)}))
    units = [(unit.id, 0, [0] * unit.slots) for unit in (ONE, TWO)]
    raws = [tmp_path / f"{number}.raw" for number in range(len(processes))]
    for pid, (path, calls) in enumerate(zip(raws, processes, strict=True), 42):
        path.write_bytes(raw_bytes([(0, str(program))], units, call_nodes=calls, pid=pid))
    return collect(raws)


def _named(profile: Profile) -> list[tuple[str, int, bool]]:
    return [(";".join(path.functions), path.count, path.recursive) for path in named_call_paths(profile)]


def test_call_paths_of_threads_and_processes_are_summed(tmp_path: Path) -> None:
    first = [
        (ROOT, 0, 0, 0, 0),
        (0, 0, 0, 0, 1),
        (0, 1, 1, 0, 5),
        (1, 0, 2, 0, 0),
        (0, 1, 3, 1, 7),
        (ROOT, 0, 0, 0, 0),
        (0, 1, 5, 0, 3),
    ]
    second = [(ROOT, 0, 0, 0, 0), (0, 0, 0, 0, 1), (0, 1, 1, 0, 2), (1, 0, 2, 0, 4)]
    profile = _collected(tmp_path, first, second)
    assert _named(profile) == [
        ("main;parse", 14, True),
        ("main;parse;swap", 4, False),
        ("parse", 3, False),
        ("main", 2, False),
    ]
    assert profile.call_paths[0] == CallPath(((ONE.id, 0), (ONE.id, 1)), 14, True)


@pytest.mark.parametrize(
    "calls",
    [
        [(0, 0, 0, 0, 1)],
        [(ROOT, 0, 0, 0, 0), (2, 0, 0, 0, 1)],
        [(ROOT, 0, 0, 0, 0), (0, 3, 0, 0, 1)],
        [(ROOT, 0, 0, 0, 0), (0, 0, 1, 0, 1)],
        [(ROOT, 0, 0, 0, 0), (0, 0, 0, 2, 1)],
        [(ROOT, 0, 0, 0, 0), (0, 0, 0, 1, 1)],
        [(ROOT, 0, 0, 0, 0), (0, 0, 0, 0, 1), (0, 0, 1, 1, 1), (0, 1, 2, 0, 1)],
    ],
)
def test_invalid_call_nodes_are_refused(tmp_path: Path, calls: Calls) -> None:
    with pytest.raises(BadFile, match=r"0\.raw: corrupt: a (recursive )?(call|node of a call-path tree) "):
        _collected(tmp_path, calls)


def _profile(*paths: CallPath) -> Profile:
    return assemble("/bin/prog", [ONE, TWO], [unit_counts_of(ONE, {}), unit_counts_of(TWO, {})], (), paths)


A, B, C, D = (ONE.id, 0), (ONE.id, 1), (ONE.id, 2), (TWO.id, 0)
SAMPLE = _profile(
    CallPath((A, B, C), 12),
    CallPath((A, B), 4, True),
    CallPath((D,), 4),
    CallPath((A, D, B, C), 2),
    CallPath((A,), 1),
)


def test_the_tree_is_read_as_it_was_written() -> None:
    tree = to_columns(SAMPLE.call_paths, SAMPLE.units)
    assert from_columns(tree, SAMPLE.units) == tuple(
        sorted(SAMPLE.call_paths, key=lambda path: (-path.count, path.functions))
    )
    assert len(tree[0]) == 7


@pytest.mark.parametrize(
    "tree",
    [
        [[0], [0], [0], [1]],
        [[0], [0], [0], [1], [2]],
        [[2], [0], [0], [1], [0]],
        [[0], [3], [0], [1], [0]],
        [[0], [0], [1], [1], [0]],
        [[0], [0], [0], [-1], [0]],
        [[0, 0], [0, 0], [0, 0], [1, 1], [0, 0]],
        [[0, 0], [0], [0], [1], [0]],
        None,
    ],
)
def test_invalid_trees_are_refused(tree: Any) -> None:
    with pytest.raises(ColumnError):
        from_columns(tree, SAMPLE.units)


def test_comdat_copies_of_a_function_are_one() -> None:
    """A shared function has one name, whichever COMDAT copy was linked."""
    copies = [
        unit_of(
            function("use", "a>exit", linkage_name=f"use{number}"),
            function("get", "a>exit", shared=True, line=number),
        )
        for number in (1, 2)
    ]
    paths = [CallPath(((unit.id, 0), (unit.id, 1)), 3) for unit in copies]
    paths += [CallPath(((copies[0].id, 0), (copies[1].id, 1)), 4, True)]
    profile = assemble("/bin/prog", copies, [unit_counts_of(unit, {}) for unit in copies], (), paths)
    assert named_call_paths(profile) == [
        NamedCallPath(("a.c:use", "get"), 7, True),
        NamedCallPath(("a.c:use#2", "get"), 3, False),
    ]


def test_as_json() -> None:
    assert to_document(SAMPLE)["call_paths"][:2] == [
        {"functions": ["main", "parse", "next"], "count": 12, "recursive": False},
        {"functions": ["main", "parse"], "count": 4, "recursive": True},
    ]
    assert [path["count"] for path in to_document(SAMPLE, "next")["call_paths"]] == [12, 2]
    assert "call_paths" not in to_document(_profile())


def test_folded() -> None:
    assert to_folded(SAMPLE) == "main 1\nmain;parse 4\nmain;parse;next 12\nmain;swap;parse;next 2\nswap 4\n"
    assert to_folded(SAMPLE, "n*") == "main;parse;next 12\nmain;swap;parse;next 2\n"
    with pytest.raises(UsageError, match="holds no call paths; run with --call-paths"):
        to_folded(_profile())


def test_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "x.trod")
    save(SAMPLE, file)
    assert main(["report", file, "--top", "2"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines() if line.startswith("call\t")]
    assert rows == [["call", "12", "", "main → parse → next"], ["call", "4", "recursive", "main → parse"]]
    assert main(["report", file, "--json", "--function", "next"]) == 0
    assert json.loads(capsys.readouterr().out)["call_paths"] == [
        {"functions": ["main", "parse", "next"], "count": 12, "recursive": False},
        {"functions": ["main", "swap", "parse", "next"], "count": 2, "recursive": False},
    ]
    assert main(["export", file, "--format", "folded"]) == 0
    assert capsys.readouterr().out == to_folded(SAMPLE)
