"""Small files that were made to take all memory, all time, or another file: refused, and soon."""

from __future__ import annotations

import os
import resource
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands.calling import at_a_terminal, process
from tests.fuzz.trial import limit_memory
from tests.profile.making import (
    elf_bytes,
    function,
    pack_unit,
    profile_of,
    raw_bytes,
    unit_counts_of,
    unit_of,
)
from tests.profile.walking import path_plan
from trodden.collect.binary.program import read_program
from trodden.commands.main import main
from trodden.errors import BadFile, InputMissing, TroddenError
from trodden.graph.cfg_text import parse_graphs
from trodden.profile.assemble import assemble
from trodden.profile.from_runs import collect
from trodden.profile.store.trod import MAGIC, from_bytes, save, to_bytes
from trodden.program.facts import SourceFile
from trodden.program.record import seal, unseal
from trodden.program.unit_codec import unpack_units
from trodden.recover.sparse_counters import SparseCounters
from trodden.recover.unit_counts import UnitCounts

SMALL = unit_of(function("main", "a>b b>a b>exit", {"a": [1]}), function("f", "x>exit"))
ORDER = "\x1b]0;owned\x07"


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Not longer, and not with more memory than a process of the fuzzer may use."""
    most = resource.getrlimit(resource.RLIMIT_AS)
    start = time.process_time()
    limit_memory()
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, most)
    assert time.process_time() - start < seconds


def _document(**changes: Any) -> dict[str, Any]:
    document = unseal(MAGIC, to_bytes(assemble("p", [SMALL], [unit_counts_of(SMALL, {})])), "x")[0]
    return {**document, **changes}


def _sealed(text: bytes, magic: bytes = MAGIC) -> bytes:
    payload = zlib.compress(text, 9)
    return struct.pack("<8sIIQ", magic, 1, zlib.crc32(payload), len(payload)) + payload


@pytest.mark.parametrize("text", [b"[" + b"[]," * (20 << 20) + b"0]", b"[" * (1 << 20), b" " * (80 << 20)])
def test_a_record_does_not_grow_without_bound(text: bytes) -> None:
    with _within(10), pytest.raises(BadFile):
        from_bytes(_sealed(text), "x")


def test_many_records_do_not_grow_without_bound_together() -> None:
    one = _sealed(b'{"files":[],"slots":0,"functions":[' + b" " * (3 << 20) + b"]}", b"TRODUNIT")
    with _within(10), pytest.raises(BadFile):
        unpack_units(one * 300, "x")


def test_a_text_that_compresses_too_well_comes_back() -> None:
    document = {"zeros": [0] * 5_000_000}
    record = seal(MAGIC, document)
    assert unseal(MAGIC, record, "x") == (document, len(record))
    assert len(record) < 1_000_000


def test_numbers_too_long_to_be_written_are_refused() -> None:
    for wrong in ([int("9" * 4290)], [1 << 128]):
        slots = SMALL.slots - 1
        with pytest.raises(BadFile, match="out of range"):
            from_bytes(seal(MAGIC, _document(counts=[[*wrong, -slots]])), "x")


def test_functions_of_one_name_take_no_longer_than_others() -> None:
    unit = unit_of(*[function("f", "x>exit", linkage_name=f"f{number}") for number in range(5000)])
    with _within(5):
        profile = assemble("p", [unit], [unit_counts_of(unit, {})])
    assert list(profile.functions)[-1] == "a.c:f#5000"


def test_long_paths_that_differ_in_their_first_part_take_no_longer_than_others() -> None:
    files = [f"/{name}{'/a' * 200_000}.c" for name in "xyz"]
    functions = (function("f", "x>exit", linkage_name=f"f{file}", file=file) for file in range(3))
    unit = unit_of(*functions, files=files)
    with _within(10):
        profile = assemble("p", [unit], [unit_counts_of(unit, {})])
    assert {len(name) for name in profile.functions} == {len(files[0]) - 1 + len(":f")}


def test_probes_in_one_place_take_no_longer_than_others() -> None:
    document = _document()
    plan = document["units"][0]["functions"][0]["plan"]
    plan["on_edges"] = [[0] * 100_000, [0] * 100_000, [-1] * 100_000]
    with _within(10):
        found = from_bytes(seal(MAGIC, document), "x")
    assert len(found.functions["main"].facts.plan.on_edges[0]) == 100_000


def test_paths_through_everything_are_not_spelled_out() -> None:
    """Two hundred bytes a path, two thousand blocks long."""
    steps = 2000
    shape = " ".join(f"a{i}>b{i} a{i}>c{i} b{i}>a{i + 1} c{i}>a{i + 1}" for i in range(24))
    tail = " ".join(f"a{24 + i}>a{25 + i}" for i in range(steps))
    unit = unit_of(function("f", f"{shape} {tail} a{24 + steps}>exit", planner=path_plan))
    document = unseal(
        MAGIC, to_bytes(assemble("p", [unit], [UnitCounts(unit.id, SparseCounters(unit.slots, {}))])), "x"
    )[0]
    document["counts"] = [[1] * 8000 + [8000 - unit.slots]]
    with _within(30), pytest.raises(BadFile, match="f: its paths are too many and too long"):
        from_bytes(seal(MAGIC, document), "x")


def test_calls_without_end_are_not_spelled_out(tmp_path: Path) -> None:
    deep = 40_000
    columns = [[0] * deep, [0, 1] * (deep // 2), list(range(deep)), [1] * deep, [0] * deep]
    with _within(10), pytest.raises(BadFile, match="x: its call paths are too many and too long"):
        from_bytes(seal(MAGIC, _document(calls=columns)), "x")
    calls = [(0xFFFFFFFF, 0, 0, 0, 0), *((0, number % 2, number, 0, 1) for number in range(deep))]
    program = tmp_path / "prog"
    program.write_bytes(elf_bytes({".trodden": pack_unit(SMALL)}))
    raw = tmp_path / "x.raw"
    raw.write_bytes(raw_bytes([(0, str(program))], [(SMALL.id, 0, [0] * SMALL.slots)], call_nodes=calls))
    with _within(10), pytest.raises(BadFile, match=r"x.raw: its call paths are too many and too long"):
        collect([raw])


def _sections(number: int, kind: int, entry: int, name: int = 1) -> bytes:
    """An ELF file of which each section is the whole file."""
    size = 64 + 64 * number
    head = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, number, 1)
    each = struct.pack("<IIQQQQIIQQ", name, kind, 4, 0, 0, size, 1, 0, 1, entry)
    return head + each * number


@pytest.mark.parametrize(("kind", "entry"), [(2, 24), (2, 1), (2, 0), (11, 24), (1, 0), (3, 0)])
def test_sections_that_all_lie_in_the_same_place(tmp_path: Path, kind: int, entry: int) -> None:
    path = tmp_path / "prog"
    path.write_bytes(_sections(16_000, kind, entry))
    with _within(5), pytest.raises(TroddenError):
        read_program(path)


def test_blanks_at_the_end_of_a_line_are_passed_over() -> None:
    with _within(5):
        assert len(parse_graphs(f"graph a\n x -> EXIT{' ' * 1_000_000}\n{' ' * 1_000_000}")) == 1
        with pytest.raises(BadFile, match="not closed"):
            parse_graphs('graph a\n "' + "\\x" * 500_000)


def test_an_ordinal_of_any_length_is_refused() -> None:
    with pytest.raises(BadFile):
        parse_graphs(f"graph a\n x -> EXIT ({'9' * 5000})\n")


@pytest.fixture
def odd_names(tmp_path: Path) -> Callable[[str], Path]:
    """A profile whose source has some name."""

    def make(name: str) -> Path:
        unit = unit_of(function(f"f{ORDER}", "a>b b>exit", {"a": [1], "b": [2]}), files=[SourceFile(name)])
        path = tmp_path / "odd.trod"
        save(profile_of(unit, {f"f{ORDER}": {"a>b": 3}}, [f"note{ORDER}"]), path)
        return path

    return make


def test_a_source_may_be_a_file_and_nothing_else(
    tmp_path: Path, odd_names: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("/dev/zero", "/dev/tty", "/", "a\0b", "\ud800", "/proc/self/mem"):
        path = str(odd_names(name))
        assert main(["annotate", path]) == InputMissing.status
        assert "cannot be read" in capsys.readouterr().err
        assert main(["report", path, "--json"]) == 0
        assert main(["annotate", path, "--force"]) == InputMissing.status
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = process("annotate", str(odd_names(str(pipe))))
    assert (done.returncode, "it is not a regular file" in done.stderr) == (InputMissing.status, True)


def test_a_program_may_be_a_file_and_nothing_else(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    raw = tmp_path / "x.raw"
    for name in (str(pipe), "/dev/zero", "/", "a\0b"):
        raw.write_bytes(raw_bytes([(0, name)], [(SMALL.id, 0, [0] * SMALL.slots)]))
        with pytest.raises(InputMissing):
            collect([raw])


def test_names_give_no_orders_to_a_terminal(tmp_path: Path, odd_names: Callable[[str], Path]) -> None:
    source = tmp_path / f"a{ORDER}.c"
    source.write_text(f"one {ORDER}\ntwo\n")
    path = str(odd_names(str(source)))
    for words in (
        ("report", path),
        ("annotate", path),
        ("diff", path, path),
        ("show", path),
        ("export", "--format=dot", path),
        ("export", "--format=lcov", path),
    ):
        shown = at_a_terminal(*words)
        assert "owned" in shown or words[0] == "diff"
        assert "\x1b]" not in shown
        assert "\x07" not in shown


def test_messages_give_no_orders_to_a_terminal(tmp_path: Path) -> None:
    graph = tmp_path / "x.cfg"
    graph.write_text(f"graph a\n x -> {ORDER} {ORDER} {ORDER * 900}\n")
    done = process("show", str(graph))
    assert done.returncode == BadFile.status
    assert "\\x1b]0;owned" in done.stderr
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 12_000


def test_what_cannot_be_encoded_is_written_as_an_escape(
    tmp_path: Path, odd_names: Callable[[str], Path]
) -> None:
    path, out = odd_names("/nowhere/\ud800-\udc80.c"), tmp_path / "out"
    done = process("export", str(path), "--format=lcov", "--ignore-markers", "-o", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert b"SF:/nowhere/\\ud800-\x80.c\n" in out.read_bytes()


def test_names_forge_no_lines_in_a_tracefile(tmp_path: Path, odd_names: Callable[[str], Path]) -> None:
    path = odd_names("/a.c\nend_of_record\nSF:/etc/passwd")
    done = process("export", str(path), "--format=lcov")
    assert [line for line in done.stdout.splitlines() if line.startswith("SF:")] == [
        r"SF:/a.c\x0aend_of_record\x0aSF:/etc/passwd"
    ]


def test_ir_that_makes_llvm_give_up(tmp_path: Path) -> None:
    path = tmp_path / "x.ll"
    path.write_text("define i32 @f() {\n%4294967294 = add i32 1, 2\n ret i32 %4294967295\n}\n")
    done = process("show", str(path))
    assert "Traceback" not in done.stderr
    assert (done.returncode, "LLVM aborted while reading it" in done.stderr) == (92, True)
