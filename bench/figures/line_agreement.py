"""Line counts compared with those of three other tools: clang's gcov, gcc's gcov, and llvm-cov.

The three differ among each other, since a line is not a unit of the machine.  So each line is compared with
each of them, and a reason is determined for a line that equals none.  clang's gcov is not independent: it has
the compiler, the line numbers and the rule of counting that we have.  So it is also counted how often one of
the other two agrees with us, and how often these two agree with each other and not with us.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.measures.code import code_of
from bench.measures.model import Json, Measure
from bench.oracles import gcov, llvm_cov
from bench.oracles.line_differences import Difference, Explainer, LineCounts, Location, Reason
from bench.run.executables import executable, run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.profiles import collected
from bench.run.runs import RunResult
from bench.suite.model import SuiteProgram
from bench.support.hashing import hashed
from trodden.profile.model import Profile
from trodden.source.lines import line_counts

TOOLS = ("clang", "gcc", "regions")
"""clang's gcov, gcc's gcov, and llvm-cov."""

_OURS, _EARLY = "lines-trodden", "lines-early"
_CONFIGS = {tool: f"lines-{tool}" for tool in TOOLS}


@dataclass(frozen=True)
class LineAgreement(Measure):
    """How many lines of a program have the same counts, and each line that has the count of no other tool."""

    @property
    def key(self) -> str:
        """There is one a program."""
        return "agreement/lines"

    @property
    def configs(self) -> tuple[str, ...]:
        """Ours, and those of the other tools; the early stage is built when a reason is missing."""
        return (_OURS, *_CONFIGS.values())

    @property
    def tools(self) -> tuple[str, ...]:
        """The other tools."""
        return (gcov.LLVM_COV, llvm_cov.LLVM_PROFDATA, gcov.GCOV)

    def fingerprint(self, program: SuiteProgram) -> str:
        """All builds on *ref*, and the code that compares."""
        runs = (run_fingerprint(program, config, "ref") for config in (*self.configs, _EARLY))
        return hashed(code_of(__name__), *runs)

    def measure(self, program: SuiteProgram) -> Json:
        """Run all builds and compare."""
        ours = _profile(program, _OURS)
        comparison = compare(profile_lines(ours), _other_lines(program))
        explainer = Explainer.of(ours)
        reasons = explainer.reasons(comparison.unequal, comparison.outvoted)
        if None in reasons.values():
            early = profile_lines(_profile(program, _EARLY))
            reasons = explainer.reasons(comparison.unequal, comparison.outvoted, early)
        return comparison.as_json(reasons)


def _profile(program: SuiteProgram, config: str) -> Profile:
    run = run_of(program, config, "ref", "lines")
    return collected(run.execute(), run.what)


def _other_lines(program: SuiteProgram) -> dict[str, LineCounts]:
    def result(tool: str) -> RunResult:
        return run_of(program, _CONFIGS[tool], "ref", "lines").execute()

    def built(tool: str) -> Path:
        return executable(program, _CONFIGS[tool])

    return {
        "clang": gcov.with_llvm(result("clang"), built("clang").parent),
        "gcc": gcov.with_gcc(result("gcc"), built("gcc").parent),
        "regions": llvm_cov.with_regions(result("regions"), built("regions")),
    }


@dataclass
class Comparison:
    """Our lines compared with those of the others, as far as at least one of them knows the line.

    A line has ``ran`` if we or one of the others say so.  ``apart`` are the lines that gcc's gcov or llvm-cov
    knows, ``apart_equal`` those that one of the two counts as we do, and ``against`` those that both count
    alike and not as we do.  ``outvoted`` are the locations where clang's gcov differs from us and both others
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
    outvoted: set[Location] = field(default_factory=set)

    def as_json(self, reasons: Mapping[Difference, Reason | None]) -> Json:
        """Plain numbers, and a row for each line that equals none."""
        return {
            "lines": self.lines,
            "ran": self.ran,
            "known": {tool: self.known[tool] for tool in TOOLS},
            "equal": {tool: self.equal[tool] for tool in TOOLS},
            "apart": self.apart,
            "apart equal": self.apart_equal,
            "against": self.against,
            "differences": [
                {
                    "file": Path(each.file).name,
                    "line": each.line,
                    "ours": each.ours,
                    **dict(zip(TOOLS, each.others, strict=True)),
                    "reason": reason.value if reason is not None else "",
                }
                for each, reason in reasons.items()
            ],
        }


def compare(ours: LineCounts, others: Mapping[str, LineCounts]) -> Comparison:
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


def profile_lines(profile: Profile) -> LineCounts:
    """Our line counts, in the form of the others."""
    found = line_counts(profile)
    return {file: {line: int(here.count) for line, here in lines.items()} for file, lines in found.items()}
