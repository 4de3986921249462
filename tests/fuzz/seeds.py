"""What the fuzzer starts from: files that small programs leave behind, and what hypothesis makes up."""

from __future__ import annotations

import os
import signal
import struct
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.sparse import pack
from tests.fuzz.traces import both, packed_of
from tests.native.building import execute, must, trodden
from tests.profile.making import elf_bytes, function, pack_unit, sites_bytes, unit_counts_of, unit_of
from tests.profile.making import raw_bytes as made_raw
from tests.profile.sample import sample, write_sources
from tests.profile.walking import stored
from tests.program.test_unit_codec import units
from tests.report.sample_paths import run as walked_program
from trodden.collect.call_paths import CallPath
from trodden.collect.rawfile.raw import MAGIC as RAW_MAGIC
from trodden.estimating.estimate import estimate
from trodden.profile.assemble import assemble
from trodden.profile.store.trod import to_bytes
from trodden.program.facts import UnitFacts
from trodden.recover.unit_counts import UnitCounts
from trodden.weigh.heuristics.rates import WL94

PROGRAM = Path(__file__).parent / "programs" / "tiny.c"
CASES = Path(__file__).parents[1] / "cases"
_MADE_UP = 12

_BUILDS = {
    "edges": ("-O1",),
    "blocks": ("-O0", "--trodden-profile=blocks"),
    "paths": ("-O0", "--trodden-profile=paths", "--trodden-call-paths=on", "--trodden-metric=cycles"),
    "sparse": ("-O1", "--trodden-profile=paths", "--trodden-max-paths=none", "--trodden-context=on"),
}
_TRACED = {
    f"trace-{encoding}": ("-O1", "--trodden-profile=trace", f"--trodden-trace={encoding}")
    for encoding in ("paths", "witnesses", "bits")
}
_ENDS = (("4", 3), ("9", 3), ("104", -signal.SIGKILL), ("204", -signal.SIGSEGV))


def make_seeds(folder: Path) -> None:
    """One folder of files for each kind of input; ``programs`` are the programs that raw files belong to."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("raw", "live", "trod", "unit", "program", "cfg", "ir", "spooled", "packed", "traced"):
        (folder / kind).mkdir(exist_ok=True)
    _real(folder)
    _traced(folder)
    _made(folder)
    for case in ("bl94", "bl96", "weights"):
        text = (CASES / f"{case}.cfg").read_text()
        for number, graph in enumerate(text.split("\ngraph ")[1:]):
            (folder / "cfg" / f"{case}{number}").write_text(f"graph {graph}\n")
    (folder / "cfg" / "odd").write_text('graph "a b"\n root x\n y\n x -> "\\u001b", EXIT 0.5 # c\n[s 1]\nx\n')


def _real(folder: Path) -> None:
    work = folder / "programs"
    work.mkdir(exist_ok=True)
    for name, flags in _BUILDS.items():
        program = work / name
        must("cc", *flags, "-g", str(PROGRAM), "-o", str(program), cwd=work)
        for argument, status in _ENDS:
            done = execute([str(program), argument], work, {"TRODDEN_FILE": f"{name}{argument}.%p.raw"})
            assert done.returncode == status, done.stderr
        raws = sorted(work.glob(f"{name}*.raw"))
        done = trodden("collect", *map(str, raws), "-o", f"{name}.trod", cwd=work)
        assert done.returncode == 0, done.stderr
        (folder / "trod" / name).write_bytes((work / f"{name}.trod").read_bytes())
        (folder / "program" / name).write_bytes(program.read_bytes())
        for number, raw in enumerate(raws):
            if raw.read_bytes().startswith(RAW_MAGIC):
                (folder / "raw" / f"{name}{number}").write_bytes(raw.read_bytes())
            else:
                (folder / "live" / f"{name}{number}").write_bytes(pack(raw))
    must(
        "cc",
        "-O1",
        "-g",
        "-S",
        "-emit-llvm",
        "--trodden-profile=off",
        str(PROGRAM),
        "-o",
        "tiny.ll",
        cwd=work,
    )
    (folder / "ir" / "tiny").write_bytes((work / "tiny.ll").read_bytes())


def _traced(folder: Path) -> None:
    work = folder / "programs"
    for name, flags in _TRACED.items():
        must("cc", *flags, "-g", str(PROGRAM), "-o", name, cwd=work)
        (folder / "program" / name).write_bytes((work / name).read_bytes())
        for argument, status in _ENDS:
            done = execute([f"./{name}", argument], work, {"TRODDEN_FILE": f"{name}{argument}.raw"})
            assert done.returncode == status, done.stderr
            raw = work / f"{name}{argument}.raw"
            ended = raw.read_bytes().startswith(RAW_MAGIC)
            content, spool = raw.read_bytes() if ended else pack(raw), Path(f"{raw}.trace").read_bytes()
            (folder / "spooled" / f"{name}{argument}").write_bytes(both(content, spool))
            if ended:
                (folder / "packed" / f"{name}{argument}").write_bytes(both(content, packed_of(spool)))
        raws = sorted(work.glob(f"{name}9*.raw"))
        done = trodden("collect", *map(str, raws), "-o", f"{name}.trod", cwd=work)
        assert done.returncode == 0, done.stderr
        (folder / "traced" / name).write_bytes((work / f"{name}.trod").read_bytes())


def _made(folder: Path) -> None:
    """Files that no run has left behind, small and with everything in them that a file can hold."""
    main = function("main", "a>b b>a b>c c>exit", {"a": [1], "b": [2, 3]})
    unit = unit_of(main, function("f", "x>exit"), files=["/src/a.c"], sites=[(0, 1), (0, -1)])
    sites = sites_bytes(unit, [(0x1004, 0, False), (0x1009, 0, True), (0x1020, 1, False)])
    symbols = struct.pack("<IBBHQQ", 0, 2, 0, 1, 0x1000, 0x40) * 2
    sections = {".trodden": pack_unit(unit) + bytes(5), ".trodden_sites": sites, ".symtab": symbols}
    (folder / "program" / "made").write_bytes(_with_symbols(elf_bytes(sections)))
    counted = [3, 0, 1 << 40, *[0] * unit.slots][: unit.slots]
    raw = made_raw(
        [(0x1000, "/bin/prog"), (0, "/lib/x.so")],
        [(unit.id, 0, counted)],
        [(0, 0, 0x1009), (1, 0xFFFFFFFF, 7, 5)],
        inherited=[(0, 0, 0x1009, 1 << 63)],
        non_local_exits=[(0, 0x1009, -2), (1, 4, 1, 9)],
        sparse_paths=[(0, 0, 3, 4), (0, 1, 5, 6), (0, 1 << 63, 7, 8)],
        call_nodes=[(0xFFFFFFFF, 0, 0, 0, 0), (0, 0, 0, 0, 5), (0, 1, 1, 0, 2), (0, 0, 2, 1, 9)],
    )
    (folder / "raw" / "made").write_bytes(raw)
    paths = (CallPath(((unit.id, 0),), 4), CallPath(((unit.id, 0), (unit.id, 1)), 2, True))
    called = assemble("/bin/prog", [unit], [unit_counts_of(unit, {"main": {"a>b": 1}})], ["note"], paths)
    (folder / "trod" / "called").write_bytes(to_bytes(called))
    write_sources(folder)
    (folder / "trod" / "sample").write_bytes(to_bytes(sample(str(folder))))
    walks = {"classify": {"in pos odd out": 600, "in pos even out": 400}}
    (folder / "trod" / "walked").write_bytes(to_bytes(stored(walked_program(walks, folder))))
    guessed = estimate("/bin/prog", [unit], WL94)
    (folder / "trod" / "estimated").write_bytes(to_bytes(guessed))
    for number, found in enumerate(_made_up()):
        (folder / "unit" / f"made-up{number}").write_bytes(pack_unit(found))
        unit_counts = [UnitCounts(found.id, [0] * found.slots)]
        (folder / "trod" / f"made-up{number}").write_bytes(to_bytes(assemble("p", [found], unit_counts)))
        (folder / "trod" / f"guessed{number}").write_bytes(to_bytes(estimate("p", [found], WL94)))
    (folder / "unit" / "made").write_bytes(pack_unit(unit) + bytes(3) + pack_unit(unit))


def _with_symbols(program: bytes) -> bytes:
    """The section of symbols says that it is one."""
    changed = bytearray(program)
    table = int.from_bytes(program[40:48], "little")
    place = table + 4 * 64
    struct.pack_into("<I", changed, place + 4, 2)
    struct.pack_into("<Q", changed, place + 56, 24)
    return bytes(changed)


def _made_up() -> list[UnitFacts]:
    """The same units each time."""
    found: list[UnitFacts] = []

    @seed(1)
    @settings(
        max_examples=_MADE_UP,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(units())
    def gather(unit: UnitFacts) -> None:
        if unit.slots < 1 << 20 and all(each.plan.paths is None for each in unit.functions):
            found.append(unit)

    gather()
    return found


def read_seeds(folder: Path, kind: str) -> list[bytes]:
    """The files of one kind, always in the same order."""
    return [(folder / kind / name).read_bytes() for name in sorted(os.listdir(folder / kind))]
