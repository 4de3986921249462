"""The readers, one a row: what they are given, in which envelopes it is changed, and how they are called.

A reader may read its input or raise an error of ours.  Anything else is a bug: another exception, a result
that cannot be stored and read again, a write outside of its folder, an order to the terminal.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fuzz.envelopes import Envelope, bare, in_section, raw_body, record_document, record_text
from tests.fuzz.sparse import MAGIC as SPARSE
from tests.fuzz.sparse import sparse_content, unpack
from tests.fuzz.traces import (
    before_traces,
    behind_document,
    differing_readers,
    in_raw,
    in_records,
    lay_out,
    packed_records,
    use_traces,
)
from trodden.collect.binary.program import read_program
from trodden.collect.frames.frame_locator import FrameLocator
from trodden.collect.rawfile.raw import parse_raw, read_raw
from trodden.commands.main import main
from trodden.profile.from_runs import collect as collect_raws
from trodden.profile.model import Profile
from trodden.profile.store.trod import from_bytes, load, save, to_bytes
from trodden.program.unit_codec import unpack_units

_STATUSES = (0, 2, *range(90, 102))
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ORDER = re.compile(r"[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f]")
_ADDRESSES = (0, 1, 0x1009, 0x1020, (1 << 64) - 1)


class Broken(Exception):
    """A promise that a reader did not keep, though it raised nothing."""


@dataclass(frozen=True)
class Target:
    """A reader, with the folder of what it starts from.

    ``read`` gets the bytes, and a folder that holds the programs and is the only place where it may write.
    """

    name: str
    seeds: str
    envelopes: tuple[Envelope, ...]
    read: Callable[[bytes, Path], None]


def _raw(data: bytes, _: Path) -> None:
    parse_raw(data, "x.raw")


def _live(data: bytes, room: Path) -> None:
    unpack(data, room / "x.raw")
    read_raw(room / "x.raw")


def _collect(data: bytes, room: Path) -> None:
    """Counts that fit one of the programs become a profile, and one that can be read."""
    path = room / "x.raw"
    if data.startswith(SPARSE):
        unpack(data, path)
    else:
        path.write_bytes(data)
    profile = collect_raws([path], _programs_of(data, str(room)))
    if from_bytes(to_bytes(profile), "x.trod").functions != profile.functions:
        raise Broken("a profile does not come back as it was stored")


def _programs_of(data: bytes, room: str) -> list[Path]:
    """The programs that have one of the units in a raw file, for reading all of them takes long."""
    return [path for path, names in _units_of_programs(room) if any(name in data for name in names)]


@cache
def _units_of_programs(room: str) -> list[tuple[Path, list[bytes]]]:
    programs = [read_program(path) for path in sorted(Path(room).glob("program-*"))]
    return [(Path(each.path), [bytes.fromhex(name) for name in each.units]) for each in programs]


def _trod(data: bytes, _: Path) -> None:
    profile = from_bytes(data, "x.trod")
    if from_bytes(to_bytes(profile), "x.trod").functions != profile.functions:
        raise Broken("a profile does not come back as it was stored")


def _unit(data: bytes, _: Path) -> None:
    unpack_units(data, "x.o")


def _program(data: bytes, room: Path) -> None:
    path = room / "x.out"
    path.write_bytes(data)
    program = read_program(path)
    for address in _ADDRESSES:
        program.sites.find(address)
        program.sites.nearby(address)
    if len(program.build) != 8:
        raise Broken("a build has no name")


def _positions(data: bytes, room: Path) -> None:
    """The debug information of a program, asked where some frames stand."""
    path = room / "x.out"
    path.write_bytes(data)
    program = read_program(path)
    locator = FrameLocator(program)
    located = [(low, high) for low, high in program.functions if locator.knows(low)]
    for low, high in located[:8]:
        for address in range(low, min(high, low + 4000), max((high - low) // 7, 1)):
            locator.at(address, dict.fromkeys(range(33), low), lambda _, size: bytes(size), 64)


def _spooled(data: bytes, room: Path) -> None:
    """A raw file with its spool file."""
    lay_out(data, room / "x.raw", packed=False)
    _traces_of(collect_raws([room / "x.raw"], _programs_of(data, str(room))), data, room)


def _packed(data: bytes, room: Path) -> None:
    """A raw file with its packed file."""
    lay_out(data, room / "x.raw", packed=True)
    _traces_of(collect_raws([room / "x.raw"], _programs_of(data, str(room))), data, room)


def _traced(data: bytes, room: Path) -> None:
    """A profile with traces."""
    (room / "x.trod").write_bytes(data)
    _traces_of(load(room / "x.trod"), data, room)


def _traces_of(profile: Profile, data: bytes, room: Path) -> None:
    """All readers agree about the traces of a profile, and they come back as they were stored."""
    if profile.traces is None:
        return
    if differing_readers(profile):
        raise Broken("two readers disagree")
    use_traces(profile, zlib.crc32(data))
    save(profile, room / "out.trod")
    again = load(room / "out.trod").traces
    if again is None or len(again.processes) != len(profile.traces.processes):
        raise Broken("traces do not come back as they were stored")


_VERBS = (
    ("report", "x.trod"),
    ("report", "x.trod", "--json"),
    ("annotate", "x.trod"),
    ("annotate", "x.trod", "--force"),
    ("annotate", "x.trod", "--path", "1"),
    ("coverage", "x.trod"),
    ("coverage", "x.trod", "--json"),
    ("stats", "x.trod", "--per-function"),
    ("stats", "x.trod", "--json"),
    ("diff", "x.trod", "y.trod"),
    ("diff", "y.trod", "x.trod", "--json"),
    ("export", "x.trod", "--format", "json", "-o", "out"),
    ("export", "x.trod", "--format", "lcov", "-o", "out"),
    ("export", "x.trod", "--format", "dot"),
    ("export", "x.trod", "--format", "folded"),
    ("merge", "x.trod", "y.trod", "-o", "out.trod"),
    ("merge", "y.trod", "x.trod", "-o", "out.trod", "--combine", "evidence"),
    ("show", "x.trod"),
    ("show", "x.trod", "-f", "main", "--format", "svg", "-o", "out"),
    ("show", "x.trod", "-f", "main", "--profile", "paths"),
    ("show", "x.trod", "-f", "pick", "--format", "dot"),
)

_SHOWN = (
    (),
    ("--format", "svg", "-o", "out"),
    ("--format", "dot"),
    ("--profile", "paths"),
    ("--profile", "paths", "--max-paths", "4", "--context"),
    ("--counters", "blocks-by-blocks"),
    ("--counters", "blocks-by-edges"),
)


def _verbs(data: bytes, room: Path) -> None:
    """One of the verbs on a profile; which one follows from the bytes, so that it is the same each time."""
    (room / "x.trod").write_bytes(data)
    choice = zlib.crc32(data)
    words = _VERBS[choice % len(_VERBS)]
    # Merging moves a bar at a terminal, with orders of its own.
    _call(room, words, words[0] != "merge" and choice // len(_VERBS) % 2 == 0)


def _estimate(data: bytes, room: Path) -> None:
    """What a profile knows of a program is estimated anew, and the estimate is a profile."""
    (room / "x.trod").write_bytes(data)
    out = room / "guessed.trod"
    out.unlink(missing_ok=True)
    _call(room, ("estimate", "x.trod", "-o", out.name, "--report"), False)
    if out.exists():
        _trod(out.read_bytes(), room)


def _graph(data: bytes, room: Path) -> None:
    (room / "x.cfg").write_bytes(data)
    choice = zlib.crc32(data)
    _call(room, ("show", "x.cfg", *_SHOWN[choice % len(_SHOWN)]), choice // len(_SHOWN) % 2 == 0)


def _collect_verb(data: bytes, room: Path) -> None:
    (room / "x.raw").write_bytes(data)
    programs = [word for path in _programs_of(data, str(room)) for word in ("--program", str(path))]
    given = programs if zlib.crc32(data) % 4 else []
    _call(room, ("collect", "x.raw", "-o", "out.trod", *given), False)


def _ir(data: bytes, _: Path) -> None:
    """IR as a user may hand it in, from the text to the plans of its functions."""
    from trodden.native.instrument import instrument
    from trodden.native.ir.llvm import disassemble_apart
    from trodden.native.options.declarations import Options

    options = Options(profile="paths" if zlib.crc32(data) % 2 else "edges")
    instrument(disassemble_apart(data, "x.ll"), "/x.ll", options, False)


class _Screen(io.TextIOWrapper):
    """A terminal, or not."""

    def __init__(self, terminal: bool) -> None:
        self._bytes = io.BytesIO()
        self._terminal = terminal
        super().__init__(self._bytes, encoding="utf-8")

    def isatty(self) -> bool:
        return self._terminal

    def shown(self) -> str:
        """Everything written so far."""
        self.flush()
        return self._bytes.getvalue().decode()


def _call(room: Path, words: tuple[str, ...], terminal: bool) -> None:
    """A verb as the command line would call it, in a folder of its own."""
    screens = _Screen(terminal), _Screen(terminal)
    kept, before = (sys.stdout, sys.stderr), os.getcwd()
    os.chdir(room)
    os.environ |= {"TRODDEN_FORMAT": "table" if terminal else "tsv", "PAGER": "cat"}
    sys.stdout, sys.stderr = screens
    try:
        status = main(words)
    finally:
        sys.stdout, sys.stderr = kept
        os.chdir(before)
    said, complained = (screen.shown() for screen in screens)
    if status not in _STATUSES:
        raise Broken(f"{words[0]} ended with status {status}")
    if status != 0 and "trodden: " not in complained:
        raise Broken(f"{words[0]} ended with status {status} and did not say why")
    orders = _ORDER.search(_COLOUR.sub("", complained)) or (terminal and _ORDER.search(_COLOUR.sub("", said)))
    if orders:
        raise Broken(f"{words[0]} gave an order to the terminal")
    if status == 0 and "--json" in words:
        json.loads(said)


_DEBUG = tuple(
    in_section(f".debug_{name}", bare())
    for name in ("info", "abbrev", "line", "loclists", "addr", "str_offsets")
)
_FACTS = tuple(in_section(".trodden", inner) for inner in (bare(), record_text(), record_document()))

TARGETS = (
    Target("raw", "raw", (bare(), raw_body(), raw_body()), _raw),
    Target("collect", "raw", (raw_body(),), _collect),
    Target("live", "live", (bare(), sparse_content(), sparse_content()), _live),
    Target("collect-live", "live", (sparse_content(),), _collect),
    Target("positions", "program", (*_DEBUG, in_section(".text", bare())), _positions),
    Target("collect-verb", "raw", (bare(), raw_body()), _collect_verb),
    Target("trod", "trod", (bare(), record_text(), record_document(), record_document()), _trod),
    Target("spooled", "spooled", (bare(), in_raw(), in_records(bare()), in_records(bare())), _spooled),
    Target("packed", "packed", (in_records(bare()), in_records(packed_records())), _packed),
    Target(
        "traced",
        "traced",
        (before_traces(record_document()), before_traces(record_document()), behind_document(), bare()),
        _traced,
    ),
    Target("estimate", "trod", (record_text(), record_document()), _estimate),
    Target("verbs", "trod", (record_text(), record_document(), record_document()), _verbs),
    Target("unit", "unit", (bare(), record_text(), record_document()), _unit),
    Target("program", "program", (bare(), *_FACTS, in_section(".trodden_sites", bare())), _program),
    Target("graph", "cfg", (bare(),), _graph),
    Target("ir", "ir", (bare(),), _ir),
)


def _planted(data: bytes, _: Path) -> None:
    if b"!" in data:
        raise Broken("Broken promise")


PLANTED = Target("planted", "cfg", (bare(),), _planted)
"""Has a bug, so that it can be seen that bugs are found."""


def target_named(name: str) -> Target:
    """The reader of that name."""
    return next(target for target in TARGETS if target.name == name)
