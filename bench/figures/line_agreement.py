"""Line counts beside those of three other tools: clang's gcov, gcc's gcov, and llvm-cov's regions.

The three differ among each other, since a line is no unit that a machine knows.  So a line of ours is
compared with each of them, and where it equals none, the reason is asked for.  clang's gcov is no stranger:
it has our compiler, our line numbers and our rule of counting.  So it is also told how often one of the
two others counts as we do, and how often they agree with each other and not with us.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.build.compile import Way, build, clang, gcc, trodden
from bench.oracles import gcov
from bench.oracles import llvm_cov as llvmcov
from bench.oracles.line_differences import Difference, Explainer, Lines, Place, Reason
from bench.run.callgrind import must_agree, remarks, runner
from bench.suite.programs import Program
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.source.lines import line_counts

STAGES = ("late", "early")
TOOLS = ("clang", "gcc", "regions")
TOOLS_NEEDED = (gcov.LLVM_COV, llvmcov.LLVM_PROFDATA, "gcov")

_OURS = {
    "late": trodden("lines-trodden", "-O0", "-g"),
    "early": trodden("lines-early", "-O0", "-g", "--trodden-stage=early"),
}
_CLANGS = clang("lines-clang", "-O0", "--coverage")
_GCCS = gcc("lines-gcc", "-O0", "--coverage")
_REGIONS = clang("lines-regions", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping")

HEAD = (
    *("lines", "known", "ran", "as clang's gcov", "as gcc's gcov", "as llvm-cov"),
    *("as one of them", "of those that ran", "as gcc or llvm-cov", "both against us", "as none"),
    *("mentions", "starts", "cut short", "jump", "function", "early", "no reason"),
)


@dataclass
class Comparison:
    """Our lines beside those of the others, as far as at least one of them knows the line.

    A line has ``ran`` if we or one of the others say so.  ``apart`` are the lines that gcc's gcov or llvm-cov
    knows, ``apart_equal`` those that one of the two counts as we do, and ``against`` those that both count
    alike and not as we do.  ``outvoted`` are the places where clang's gcov differs from us and both others
    do not.
    """

    lines: int = 0
    ran: int = 0
    apart: int = 0
    apart_equal: int = 0
    against: int = 0
    known: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    unequal: list[Difference] = field(default_factory=list)
    outvoted: set[Place] = field(default_factory=set)

    def row(self, program: str, reasons: Mapping[Difference, Reason | None]) -> list[str]:
        """A row of the table."""
        found = list(reasons.values())
        return [
            program,
            *(str(self.lines), str(self.ran)),
            *(_share(self.equal[tool], self.known[tool]) for tool in TOOLS),
            _share(self.lines - len(self.unequal), self.lines),
            _share(self.ran - len(self.unequal), self.ran),
            _share(self.apart_equal, self.apart),
            str(self.against),
            str(len(self.unequal)),
            *(str(found.count(reason)) for reason in (*Reason, None)),
        ]


def compare(ours: Lines, others: Mapping[str, Lines]) -> Comparison:
    """Compare line by line."""
    found = Comparison()
    for file, lines in sorted(ours.items()):
        theirs = {tool: others[tool].get(file, {}) for tool in TOOLS}
        for line, count in sorted(lines.items()):
            counts = {tool: here[line] for tool, here in theirs.items() if line in here}
            if not counts:
                continue
            found.lines += 1
            found.ran += any((count, *counts.values()))
            found.known.update(counts.keys())
            found.equal.update(tool for tool, other in counts.items() if other == count)
            apart = [counts[tool] for tool in ("gcc", "regions") if tool in counts]
            found.apart += bool(apart)
            found.apart_equal += count in apart
            found.against += len(apart) == 2 and apart[0] == apart[1] != count
            if count not in counts.values():
                found.unequal.append(Difference(file, line, count, *(counts.get(tool) for tool in TOOLS)))
            elif counts.get("clang", count) != count == counts.get("gcc") == counts.get("regions"):
                found.outvoted.add((file, line))
    return found


def profile_lines(profile: Profile) -> Lines:
    """Our line counts, in the shape of the others."""
    found = line_counts(profile)
    return {file: {line: int(here.count) for line, here in lines.items()} for file, lines in found.items()}


def lines_agree(program: Program, stage: str) -> list[str]:
    """Compare line counts; answer one row of the table and print the lines that equal no other's."""
    input_file = program.input_file()
    own = _OURS[stage]
    runs, builds, runners = {}, {}, {}
    for way in (_CLANGS, _GCCS, _REGIONS, own):
        builds[way.name] = build(program, way)
        runners[way.name] = runner(program.name, way.name)
        runs[way.name] = runners[way.name].run(program.command(builds[way.name].executable, input_file))
    must_agree(program.name, runs)
    profile = collect([runners[own.name].raw])
    remarks(program.name, profile)
    others: dict[str, Lines] = {
        "clang": gcov.with_llvm(builds[_CLANGS.name], runners[_CLANGS.name]),
        "gcc": gcov.with_gcc(builds[_GCCS.name], runners[_GCCS.name]),
        "regions": llvmcov.with_regions(builds[_REGIONS.name], runners[_REGIONS.name]),
    }
    found = compare(profile_lines(profile), others)
    explainer = Explainer.of(profile)
    reasons = explainer.reasons(found.unequal, found.outvoted)
    if stage == "late" and None in reasons.values():
        reasons = explainer.reasons(found.unequal, found.outvoted, _lines_of(program, _OURS["early"]))
    text = _Sources()
    for each, reason in reasons.items():
        clangs, gccs, regions = ("-" if count is None else str(count) for count in each.others)
        where = f"{program.name}: {Path(each.file).name}:{each.line}"
        print(f"{where}: ours {each.ours}, clang's gcov {clangs}, gcc's gcov {gccs}, llvm-cov {regions}")
        print(f"    {text.line(each.file, each.line)}")
        print(f"    {reason.value if reason else 'NO REASON FOUND'}")
    return found.row(program.name, reasons)


def _lines_of(program: Program, way: Way) -> Lines:
    built, here = build(program, way), runner(program.name, way.name)
    here.run(program.command(built.executable, program.input_file()))
    return profile_lines(collect([here.raw]))


class _Sources:
    """Source lines, read once a file."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def line(self, file: str, line: int) -> str:
        """The text of a line, without its indentation."""
        if file not in self._files:
            path = Path(file)
            self._files[file] = path.read_text(errors="replace").splitlines() if path.is_file() else []
        lines = self._files[file]
        return lines[line - 1].strip() if line <= len(lines) else "?"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "-"
