"""Programs with books that outlive them (``programs/ledger.h``), against what trodden says of them."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.native.building import PROGRAMS, environment, must
from trodden.collect.rawfile.find import raw_files
from trodden.collect.rawfile.model import Raw
from trodden.collect.rawfile.raw import read_raw
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile

PAGES, PAGE_BYTES = 256, 4096
LIMIT = 60
_AS_WRITTEN = ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize")
VARIANTS = {
    "edges-O0": ("-O0", "--trodden-counters=checked"),
    "edges-O2": ("-O2", *_AS_WRITTEN),
    "paths-O2": ("-O2", *_AS_WRITTEN, "--trodden-profile=paths", "--trodden-counters=checked"),
}
CHECKED = "checked-O2"
_WAYS = VARIANTS | {CHECKED: ("-O2", *_AS_WRITTEN, "--trodden-counters=checked")}
_HIT = re.compile(r"^\s*HIT\(\);(?: .*)?$")

Line = tuple[str, int]
"""A file's name and a line of it."""

Books = dict[int, Counter[Line]]
"""By process."""


class Workshop:
    """Builds each program once in each way."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def build(self, source: str, variant: str, *more: str, name: str = "") -> Path:
        """A program, or with ``-shared`` a library."""
        target = self._directory / f"{name or Path(source).stem}-{variant}"
        if not target.exists():
            compiler = "c++" if source.endswith(".cpp") else "cc"
            must(compiler, *_WAYS[variant], PROGRAMS / source, *more, "-o", target, cwd=self._directory)
        return target

    def plain(self, source: str) -> Path:
        """The same program without any of ours."""
        target = self._directory / f"{Path(source).stem}-plain"
        if not target.exists():
            words = [*("-O1", "-UNDEBUG", "-fno-sanitize=all"), str(PROGRAMS / source), *("-o", str(target))]
            compiler = "c++" if source.endswith(".cpp") else "cc"
            subprocess.run([sys.executable, "-m", "ziglang", compiler, *words], check=True)
        return target


@dataclass(frozen=True)
class Walk:
    """How a program ended, what its processes wrote into their books, and the raw files that they left."""

    status: int
    output: str
    errors: str
    sources: tuple[str, ...]
    counts: Path
    ledger: Path

    @property
    def raws(self) -> list[Raw]:
        return [read_raw(path) for path in raw_files([self.counts])] if any(self.counts.iterdir()) else []

    @property
    def profile(self) -> Profile:
        return collect([self.counts])

    def books(self) -> Books:
        """What was written, by process."""
        data = self.ledger.read_bytes()
        found: Books = defaultdict(Counter)
        for page in range(PAGES):
            owner, *hits = struct.unpack_from(f"<{PAGE_BYTES // 8}Q", data, page * PAGE_BYTES)
            if owner:
                name = self.sources[owner & 0xFF]
                found[owner >> 8].update({(name, line): count for line, count in enumerate(hits) if count})
        return dict(found)

    def counted(self) -> Books:
        """What trodden says of the lines that books are kept of, by process."""
        by_process: dict[int, list[str]] = defaultdict(list)
        for raw in self.raws:
            by_process[raw.pid].append(raw.path)
        return {pid: lines_of(collect(paths), self.sources) for pid, paths in by_process.items()}

    def check(self, *notes: str) -> None:
        """Every process agrees with its books, and there is no news but these."""
        counted, books = self.counted(), self.books()
        assert any(books.values())
        assert differences(counted, books) == {}
        self.check_flow(*notes)

    def check_flow(self, *notes: str) -> None:
        """All together obey the law of flow."""
        profile = self.profile
        assert {f.name: f.violations for f in profile.functions.values() if f.violations} == {}
        assert [note.partition(": ")[2] or note for note in profile.notes] == list(notes)

    def off_by(self) -> int:
        """How much any line of any process differs from its books at most."""
        counted, books = self.counted(), self.books()
        assert counted.keys() == books.keys()
        return max((abs(one - other) for one, other in differences(counted, books).values()), default=0)


def differences(counted: Books, books: Books) -> dict[tuple[int, str, int], tuple[int, int]]:
    """What was counted, and what is in the books, where that is not the same."""
    nothing: Counter[Line] = Counter()
    found = {}
    for pid in counted.keys() | books.keys():
        here, there = counted.get(pid, nothing), books.get(pid, nothing)
        for line in sorted(here.keys() | there.keys()):
            if here[line] != there[line]:
                found[pid, *line] = here[line], there[line]
    return found


def hits_in(sources: Sequence[str]) -> set[Line]:
    """All lines that are kept books of."""
    return {
        (name, number)
        for name in sources
        for number, text in enumerate((PROGRAMS / name).read_text().splitlines(), 1)
        if _HIT.match(text)
    }


def lines_of(profile: Profile, sources: Sequence[str]) -> Counter[Line]:
    """How often the blocks ran that hold these lines: an optimiser puts a line into several."""
    wanted = hits_in(sources)
    found: Counter[Line] = Counter()
    for function in profile.functions.values():
        for block in function.blocks:
            for ref in {(Path(function.files[ref.file].path).name, ref.line) for ref in block.lines}:
                if ref in wanted:
                    found[ref] += int(block.count)
    return found


def prepare_walk(directory: Path, file: str | None = None) -> tuple[Path, Path, dict[str, str]]:
    """A place for counts and books, and the environment that names them."""
    counts, ledger = directory / "counts", directory / "ledger"
    counts.mkdir(parents=True)
    ledger.write_bytes(bytes(PAGES * PAGE_BYTES))
    named = {"LEDGER": str(ledger), "TRODDEN_FILE": file or str(counts / "%p.raw")}
    return counts, ledger, environment(named)


def walk(
    program: Path,
    *arguments: str | Path,
    cwd: Path,
    sources: Sequence[str] = (),
    file: str | None = None,
    prepare: Callable[[], None] | None = None,
    more: Mapping[str, str] | None = None,
) -> Walk:
    """Run a program to its end; ``sources`` are its files by number, if there is more than its own."""
    counts, ledger, variables = prepare_walk(cwd, file)
    done = subprocess.run(
        [str(program), *map(str, arguments)],
        cwd=cwd,
        env=variables | dict(more or {}),
        capture_output=True,
        text=True,
        errors="replace",
        preexec_fn=prepare,
        timeout=LIMIT,
    )
    own = tuple(sources) or (source_of(program),)
    return Walk(done.returncode, done.stdout, done.stderr, own, counts, ledger)


def source_of(program: Path) -> str:
    """The file that a program was built from."""
    stem = program.name.partition("-")[0]
    return next(path.name for path in PROGRAMS.glob(f"{stem}.c*"))
