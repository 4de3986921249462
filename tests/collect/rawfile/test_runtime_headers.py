"""Constants of the raw file and the live file that the reader and the C runtime declare separately."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trodden
from trodden.collect.rawfile import family, live, live_regions, live_tables, model, raw
from trodden.collect.rawfile.frame_record import FrameFlag
from trodden.collect.rawfile.live_regions import RegionKind
from trodden.collect.rawfile.model import Ending
from trodden.program.trace_chunk import MAGIC, SPOOL_MAGIC, Flag

RUNTIME = Path(trodden.__file__).parent / "native" / "runtime"
NUMBERS = {"UINT32_MAX": 2**32 - 1, "UINT64_MAX": 2**64 - 1, "1u": 1}


def _source(name: str) -> str:
    return re.sub(r"/\*.*?\*/", "", (RUNTIME / name).read_text(), flags=re.DOTALL)


def enumerators(name: str) -> dict[str, int]:
    """All enumerators of a C file, by name."""
    found: dict[str, int] = {}
    for body in re.findall(r"\benum\b\s*\w*\s*{([^}]*)}", _source(name)):
        following = 0
        for each in filter(None, map(str.strip, body.split(","))):
            label, _, value = (part.strip() for part in each.partition("="))
            number, _, shift = (part.strip() for part in value.partition("<<"))
            found[label] = int(number, 0) << int(shift or "0") if value else following
            following = found[label] + 1
    return found


def macro(name: str, label: str) -> int | str:
    """The number or the text that a macro of a C file stands for."""
    match = re.search(rf"^#define {label} (.+)$", _source(name), re.MULTILINE)
    assert match is not None, f"{name} does not define {label}"
    value = match[1].strip()
    if value.startswith('"'):
        return value.strip('"')
    return NUMBERS[value] if value in NUMBERS else int(value, 0)


@pytest.mark.parametrize(
    ("prefix", "members"),
    [("TRODDEN_REGION_", RegionKind), ("TRODDEN_FRAME_", FrameFlag)],
    ids=["regions", "frame flags"],
)
def test_an_enumeration_is_that_of_the_runtime(
    prefix: str, members: type[RegionKind] | type[FrameFlag]
) -> None:
    declared = enumerators("counters/live_file.h")
    own = {name.removeprefix(prefix): number for name, number in declared.items() if name.startswith(prefix)}
    assert own == {member.name: member.value for member in members}


def test_states_and_endings_have_the_numbers_of_the_runtime() -> None:
    declared = enumerators("counters/live_file.h")
    states = {"RUNNING": Ending.KILLED, "EXEC": Ending.EXEC, "SIGNAL": Ending.SIGNAL, "EXITED": Ending.EXIT}
    assert {live.STATES[declared[f"TRODDEN_STATE_{name}"]]: name for name in states} == {
        ending: name for name, ending in states.items()
    }
    assert len(live.STATES) == len([name for name in declared if name.startswith("TRODDEN_STATE_")])
    endings = enumerators("process/raw_format.h")
    assert raw.ENDINGS[endings["RAW_AT_EXIT"]] is Ending.EXIT
    assert raw.ENDINGS[endings["RAW_AT_DUMP"]] is Ending.DUMP


@pytest.mark.parametrize(
    ("name", "label", "value"),
    [
        ("counters/live_file.h", "TRODDEN_LIVE_INCOMPLETE", live.INCOMPLETE),
        ("counters/live_file.h", "TRODDEN_LIVE_NO_SPACE", live.NO_SPACE),
        ("counters/live_file.c", "VERSION", live.VERSION),
        ("counters/live_file.h", "TRODDEN_STACK_SAMPLE", model.STACK_SAMPLE),
        ("process/raw_format.h", "RAW_INCOMPLETE", raw.FRAMES_MISSING),
        ("process/raw_format.h", "RAW_COUNTS_LOST", raw.COUNTS_LOST),
        ("process/raw_format.h", "RAW_NO_SPACE", raw.NO_SPACE),
    ],
)
def test_a_constant_is_that_of_the_runtime(name: str, label: str, value: int) -> None:
    assert enumerators(name)[label] == value


@pytest.mark.parametrize(
    ("name", "label", "value"),
    [
        ("counters/live_file.h", "TRODDEN_NO_OFFSET", live_regions.NO_OFFSET),
        ("counters/live_file.h", "TRODDEN_LIVE_MAGIC", family.MAGIC.decode()),
        ("counters/sparse_paths.h", "TRODDEN_SPARSE_RESERVED", live_tables.SPARSE_RESERVED),
        ("counters/call_path_tree.h", "TRODDEN_NO_UNIT", model.ROOT),
        ("counters/call_paths.h", "TRODDEN_CALL_RECURSIVE", raw.RECURSIVE),
        ("process/raw_format.h", "RAW_MAGIC", raw.MAGIC.decode()),
        ("process/raw_format.h", "RAW_VERSION", raw.WITHOUT_TRACE),
    ],
)
def test_a_macro_is_that_of_the_runtime(name: str, label: str, value: int | str) -> None:
    assert macro(name, label) == value


def test_flags_and_reasons_of_traces_have_the_numbers_of_the_runtime() -> None:
    declared = {
        name.removeprefix("TRODDEN_TRACE_"): number for name, number in enumerators("trace/chunk.h").items()
    }
    flags = {str(flag.name): flag.value for flag in Flag}
    assert declared == flags | {reason.name: reason.value for reason in model.TraceEnd}
    assert macro("trace/chunk.h", "TRODDEN_TRACE_CHUNK_MAGIC") == MAGIC.decode()
    assert macro("trace/chunk.h", "TRODDEN_TRACE_SPOOL_MAGIC") == SPOOL_MAGIC.decode()
    assert macro("process/raw_format.h", "RAW_CROSSINGS_VERSION") == raw.VERSION
