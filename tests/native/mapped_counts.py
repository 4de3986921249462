"""Programs with reference counts that survive their end (``programs/mapped_counts.h``)."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_FLAGS = VARIANTS | {CHECKED: ("-O2", *_AS_WRITTEN, "--trodden-counters=checked")}
_HIT = re.compile(r"^\s*HIT\(\);(?: .*)?$")

Line = tuple[str, int]
"""A file's name and a line of it."""

LineCounts = dict[int, Counter[Line]]
"""The counts of each process, by its id."""


class ProgramBuilder:
    """Builds each program once in each variant."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def build(self, source: str, variant: str, *more: str, name: str = "") -> Path:
        """A program, or with ``-shared`` a library."""
        target = self._directory / f"{name or Path(source).stem}-{variant}"
        if not target.exists():
            compiler = "c++" if source.endswith(".cpp") else "cc"
            must(compiler, *_FLAGS[variant], PROGRAMS / source, *more, "-o", target, cwd=self._directory)
        return target

    def uninstrumented(self, source: str) -> Path:
        """The same program without probes and runtime."""
        target = self._directory / f"{Path(source).stem}-uninstrumented"
        if not target.exists():
            words = [*("-O1", "-UNDEBUG", "-fno-sanitize=all"), str(PROGRAMS / source), *("-o", str(target))]
            compiler = "c++" if source.endswith(".cpp") else "cc"
            subprocess.run([sys.executable, "-m", "ziglang", compiler, *words], check=True)
        return target


@dataclass(frozen=True)
class CountedRun:
    """How a program ended, the reference counts of its processes, and the raw files that they left."""

    status: int
    output: str
    errors: str
    sources: tuple[str, ...]
    counts: Path
    mapped: Path

    @property
    def raws(self) -> list[Raw]:
        return [read_raw(path) for path in raw_files([self.counts])] if any(self.counts.iterdir()) else []

    @property
    def profile(self) -> Profile:
        return collect([self.counts])

    def reference(self) -> LineCounts:
        """The reference counts."""
        return reference_counts(self.mapped, self.sources)

    def counted(self) -> LineCounts:
        """Trodden's counts of the same lines."""
        by_process: dict[int, list[str]] = defaultdict(list)
        for raw in self.raws:
            by_process[raw.pid].append(raw.path)
        return {pid: counts_of_lines(collect(paths), self.sources) for pid, paths in by_process.items()}

    def check(self, *messages: str) -> None:
        """Every process agrees with its reference counts, and there are no other messages than these."""
        counted, reference = self.counted(), self.reference()
        assert any(reference.values())
        assert differences(counted, reference) == {}
        self.check_flow(*messages)

    def check_flow(self, *messages: str) -> None:
        """All processes together obey the flow law."""
        profile = self.profile
        assert {f.name: f.violations for f in profile.functions.values() if f.violations} == {}
        assert [note.partition(": ")[2] or note for note in profile.messages] == list(messages)

    def largest_difference(self) -> int:
        """The largest difference between any line of any process and its reference count."""
        counted, reference = self.counted(), self.reference()
        assert counted.keys() == reference.keys()
        return max((abs(one - other) for one, other in differences(counted, reference).values()), default=0)


def _pages(mapped: Path) -> Iterator[tuple[int, dict[int, int]]]:
    """The owner of each page that has one, and its counts by line."""
    data = mapped.read_bytes()
    for page in range(PAGES):
        owner, *hits = struct.unpack_from(f"<{PAGE_BYTES // 8}Q", data, page * PAGE_BYTES)
        if owner:
            yield owner, {line: count for line, count in enumerate(hits) if count}


def reference_counts(mapped: Path, sources: Sequence[str]) -> LineCounts:
    """The reference counts of each process."""
    found: LineCounts = defaultdict(Counter)
    for owner, hits in _pages(mapped):
        name = sources[owner & 0xFF]
        found[owner >> 8].update({(name, line): count for line, count in hits.items()})
    return dict(found)


def empty_counts(mapped: Path) -> Path:
    """A file for reference counts."""
    mapped.write_bytes(bytes(PAGES * PAGE_BYTES))
    return mapped


def hits_by_file(mapped: Path) -> Counter[tuple[int, int]]:
    """The reference counts of all processes of a program, by the number of the file and the line."""
    found: Counter[tuple[int, int]] = Counter()
    for owner, hits in _pages(mapped):
        found.update({(owner & 0xFF, line): count for line, count in hits.items()})
    return found


def hits_of_all(mapped: Path) -> Counter[int]:
    """The reference counts of all processes of a program that is one file."""
    return Counter({line: count for (_, line), count in hits_by_file(mapped).items()})


def differences(counted: LineCounts, reference: LineCounts) -> dict[tuple[int, str, int], tuple[int, int]]:
    """The counted and the reference count of every line where they differ."""
    nothing: Counter[Line] = Counter()
    found = {}
    for pid in counted.keys() | reference.keys():
        found_here, expected_here = counted.get(pid, nothing), reference.get(pid, nothing)
        for line in sorted(found_here.keys() | expected_here.keys()):
            if found_here[line] != expected_here[line]:
                found[pid, *line] = found_here[line], expected_here[line]
    return found


def counted_lines(sources: Sequence[str]) -> set[Line]:
    """All lines with reference counts."""
    return {
        (name, number)
        for name in sources
        for number, text in enumerate((PROGRAMS / name).read_text().splitlines(), 1)
        if _HIT.match(text)
    }


def counts_of_lines(profile: Profile, sources: Sequence[str]) -> Counter[Line]:
    """How often the blocks ran that contain these lines: an optimiser puts a line into several."""
    wanted = counted_lines(sources)
    found: Counter[Line] = Counter()
    for function in profile.functions.values():
        for block in function.blocks:
            for ref in {(Path(function.files[ref.file].path).name, ref.line) for ref in block.lines}:
                if ref in wanted:
                    found[ref] += int(block.count)
    return found


def prepare_run(directory: Path, file: str | None = None) -> tuple[Path, Path, dict[str, str]]:
    """A directory for raw files, a file for reference counts, and the environment that names them."""
    counts = directory / "counts"
    counts.mkdir(parents=True)
    mapped = empty_counts(directory / "mapped")
    named = {"MAPPED_COUNTS": str(mapped), "TRODDEN_FILE": file or str(counts / "%p.raw")}
    return counts, mapped, environment(named)


def run_counted(
    program: Path,
    *arguments: str | Path,
    cwd: Path,
    sources: Sequence[str] = (),
    file: str | None = None,
    prepare: Callable[[], None] | None = None,
    more: Mapping[str, str] | None = None,
) -> CountedRun:
    """Run a program to its end; ``sources`` are its files by number, if there is more than its own."""
    counts, mapped, variables = prepare_run(cwd, file)
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
    return CountedRun(done.returncode, done.stdout, done.stderr, own, counts, mapped)


def source_of(program: Path) -> str:
    """The file that a program was built from."""
    stem = program.name.partition("-")[0]
    return next(path.name for path in PROGRAMS.glob(f"{stem}.c*"))
