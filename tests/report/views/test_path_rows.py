"""Paths in the report: at a terminal, as plain rows, as JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from rich.console import Console

from tests.profile.sample import sample
from tests.report.pathing import edges_along, facts_of, path_sample, profile_of_walks
from trodden.plan.routes import PathCount, PathEnd, PathStart
from trodden.profile.model import Profile
from trodden.report.render.plain import to_plain
from trodden.report.render.terminal import print_tables
from trodden.report.views.summary import summarise


def _printed(profile: Profile, top: int = 5) -> str:
    out = io.StringIO()
    print_tables(summarise(profile, top=top), Console(file=out, width=160))
    return out.getvalue()


def _rows(profile: Profile, kind: str, pattern: str | None = None) -> list[list[str]]:
    lines = to_plain(summarise(profile, pattern=pattern)).splitlines()
    return [line.split("\t")[1:] for line in lines if line.split("\t")[0] == kind]


def test_paths_by_instructions_with_their_shares(tmp_path: Path) -> None:
    rows = summarise(path_sample(tmp_path)).paths
    assert [(row.rank, row.function, row.count) for row in rows] == [
        (1, "main", 8),
        (2, "main", 1),
        (3, "main", 1),
        (4, "main", 1),
    ]
    # Ten iterations of four blocks, and entry, the last cond, after and last: three instructions each.
    assert rows[0].share_of_blocks == rows[0].share_of_instructions == 8 * 4 / 44
    assert sum(row.share_of_blocks for row in rows) == 1
    assert [row.rank for row in summarise(path_sample(tmp_path), top=2).paths] == [1, 2]


def test_shares_of_instructions_follow_the_sizes_of_blocks() -> None:
    facts = facts_of("f", "a>b a>c b>exit c>exit", sizes={"a": 1, "b": 9, "c": 1})
    rows = summarise(profile_of_walks([facts], {"f": ["a b exit", "a c exit"]})).paths
    shares = [(row.share_of_blocks, row.share_of_instructions) for row in rows]
    assert shares == [(0.5, 10 / 12), (0.5, 2 / 12)]


def test_a_pattern_narrows_paths_but_not_shares() -> None:
    functions = [facts_of("f", "a>exit"), facts_of("g", "a>exit")]
    profile = profile_of_walks(functions, {"f": ["a exit"] * 3, "g": ["a exit"]})
    [row] = summarise(profile, pattern="g").paths
    assert (row.rank, row.function, row.share_of_instructions) == (1, "g", 0.25)


def test_json(tmp_path: Path) -> None:
    document = json.loads(json.dumps(summarise(path_sample(tmp_path)).to_document()))
    main, file = path_sample(tmp_path).functions["main"], f"{tmp_path}/a.c"
    assert main.paths is not None
    assert document["paths"][0] == {
        "rank": 1,
        "function": "main",
        "id": main.paths[0].id,
        "count": 8,
        "share_of_blocks": 8 * 4 / 44,
        "share_of_instructions": 8 * 4 / 44,
        "starts": "starts at the loop header (line 5)",
        "ends": "ends at the back edge to line 5",
        "steps": [
            {
                "file": file,
                "line": 5,
                "text": "for (int i = 0; i < 1000; i++)",
                "outcome": "i < 1000: true",
            },
            {"file": file, "line": 6, "text": "if (i % 10)", "outcome": "i % 10: true"},
            {"file": file, "line": 7, "text": "sum += twice(i);", "outcome": None},
        ],
    }
    assert (document["cuts"], document["loops"]) == ([], [])


def test_json_of_a_timed_path_in_context_without_debug_information() -> None:
    profile = profile_of_walks([facts_of("f", "a>b a>c b>c c>exit")], {"f": ["a c exit"]})
    function = profile.functions["f"]
    edges = edges_along(function.facts.graph, "a c exit")
    path = PathCount(0, 1, (0, 2), edges, PathStart.ENTRY, PathEnd.EXIT, 700, 1)
    profile = replace(profile, functions={"f": replace(function, paths=(path,))})
    [document] = summarise(profile).to_document()["paths"]
    assert document["cycles"] == 700
    assert document["steps"] == []
    assert document["context"] == [
        {"file": None, "line": None, "text": None, "outcome": "continues at block c", "block": "a"}
    ]
    assert _rows(profile, "context") == [["1", "1", "", "", "block a", "continues at block c", ""]]
    assert _rows(profile, "path")[0][6] == "700"
    text = _printed(profile)
    assert "700" in text
    assert "reached by block a continues at block c" in text


def test_plain_lines(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    first = _rows(profile, "path")[0]
    assert (first[0], first[1], first[3], first[4], first[6]) == ("1", "main", "8", "0.727273", "")
    assert _rows(profile, "step")[1] == ["1", "2", f"{tmp_path}/a.c", "6", "if (i % 10)", "i % 10: true", ""]
    lines = to_plain(summarise(profile)).splitlines()
    columns = {line.split("\t")[0]: line.count("\t") for line in lines if line.startswith("#")}
    assert all(columns["#" + line.split("\t")[0].lstrip("#")] == line.count("\t") for line in lines)
    kinds = list(dict.fromkeys(line.split("\t")[0] for line in lines if not line.startswith("#")))
    assert kinds[:5] == ["instructions", "function", "path", "step", "block"]


def test_a_table_for_a_terminal(tmp_path: Path) -> None:
    text = _printed(path_sample(tmp_path))
    for part in (
        "Hot paths by IR instructions executed",
        "72.7%",
        "starts at the loop header (line 5); ends at the back edge to line 5",
        "5: i < 1000: true → 6: i % 10: true → 7: sum += twice(i);",
    ):
        assert part in text
    assert text.index("Functions by") < text.index("Hot paths") < text.index("Hottest blocks")
    assert "cycles" not in text


def test_a_long_path_is_shortened_at_a_terminal_only() -> None:
    shape = " ".join(f"a{i}>b{i} a{i}>a{i + 1} b{i}>a{i + 1}" for i in range(40)) + " a40>exit"
    walk = " ".join(f"a{i}" for i in range(41)) + " exit"
    profile = profile_of_walks([facts_of("f", shape, limit=None, dense=2**10)], {})
    function = profile.functions["f"]
    graph = function.facts.graph
    edges = edges_along(graph, walk)
    path = PathCount(0, 1, tuple(graph.edges[e].src for e in edges), edges, PathStart.ENTRY, PathEnd.EXIT)
    profile = replace(profile, functions={"f": replace(function, paths=(path,))})
    assert "… 16 more …" in _printed(profile)
    assert len(_rows(profile, "step")) == 40


def test_where_paths_are_cut() -> None:
    shape = " ".join(f"a{i}>b{i} a{i}>c{i} b{i}>a{i + 1} c{i}>a{i + 1}" for i in range(6)) + " a6>exit"
    lines = {f"{kind}{i}": [10 * i + at] for i in range(7) for at, kind in enumerate("abc", 1)}
    facts = facts_of("f", shape, lines, limit=8)
    assert facts.plan.paths is not None
    assert facts.plan.paths.cuts
    walk = " ".join(f"a{i} b{i}" for i in range(6)) + " a6 exit"
    profile = profile_of_walks([facts], {"f": [walk] * 2})
    edge_counts = profile.functions["f"].edge_counts
    taken = [edge for edge in facts.plan.paths.cuts if edge_counts[edge]]
    assert 0 < len(taken) < len(facts.plan.paths.cuts)
    rows = summarise(profile).cuts
    assert [row.count for row in rows] == [2] * len(taken)
    locations = {(row.src_place, row.dst_place) for row in rows}
    for edge in taken:
        src, dst, _ = facts.graph.edges[edge]
        assert tuple(f"/src/a.c:{facts.blocks[v].lines[0].line}" for v in (src, dst)) in locations
    assert len(summarise(profile, pattern="f").cuts) == len(facts.plan.paths.cuts)
    assert len(_rows(profile, "cut")) == len(taken)
    assert "Edges where paths are cut" in _printed(profile)


def test_iterations_of_a_loop_of_one_block_are_listed_apart() -> None:
    facts = facts_of("f", "a>b b>b b>c c>exit", {"a": [1], "b": [2], "c": [3]}, sizes={"b": 8})
    profile = profile_of_walks([facts], {"f": ["a b b b b c exit"]})
    [row] = summarise(profile).loops
    assert (row.function, row.place, row.count) == ("f", "/src/a.c:2", 3)
    [path] = summarise(profile).paths
    assert row.share_of_instructions + path.share_of_instructions == 1
    assert _rows(profile, "loop") == [["f", "/src/a.c:2", "3", f"{24 / 38:.6f}"]]
    assert "Loops of one block" in _printed(profile)


def test_a_profile_without_paths_says_nothing_of_them() -> None:
    summary = summarise(sample())
    assert (summary.paths, summary.loops, summary.cuts) == ((), (), ())
    assert summary.to_document()["paths"] == []
    assert "path" not in _printed(sample()).lower()


def test_a_source_that_is_missing_or_has_changed_is_named_once(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    source = tmp_path / "a.c"
    assert not any(str(source) in note for note in summarise(profile).notes)
    content = source.read_bytes()
    digest = sha256(content).hexdigest()
    unit = profile.units[0]
    files = tuple(replace(file, digest=digest) if file.path == str(source) else file for file in unit.files)
    built = replace(profile, units=(replace(unit, files=files), *profile.units[1:]))
    source.write_bytes(b"\n" + content)
    changed = [note for note in summarise(built).notes if str(source) in note]
    assert changed == [
        f"{source}: changed since the build, so the text of lines and conditions is not shown; build and run"
        " again, or say by --source-dir OLD=NEW where the sources of the build are"
    ]
    source.unlink()
    missing = [note for note in summarise(built).notes if str(source) in note]
    assert missing == [
        f"{source}: cannot be read, so the text of lines and conditions is not shown; --source-dir OLD=NEW"
        " says where sources are now"
    ]
    assert _printed(built).count("cannot be read") == 1
    assert [row for row in _rows(built, "note") if "cannot be read" in row[0]] == [missing]
