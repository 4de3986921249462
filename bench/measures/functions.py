"""Instructions of a run, function by function, by callgrind."""

from __future__ import annotations

from dataclasses import dataclass

from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.run.callgrind_out import by_function
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.suite.model import CaseName, SuiteProgram
from bench.support.errors import BenchError

_LEAST = 0.0005
"""Functions with a smaller part of all instructions are left out."""


@dataclass(frozen=True)
class Functions(Measure):
    """The instructions of the functions of a build on a case, each without what it calls."""

    way: str
    case: CaseName = "ref"

    @property
    def key(self) -> str:
        """By way and case."""
        return f"functions/{self.way}/{self.case}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    @property
    def tools(self) -> tuple[str, ...]:
        """Valgrind has callgrind."""
        return ("valgrind",)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build and what it is given."""
        return hashed(code_of(__name__), run_fingerprint(program, self.way, self.case))

    def take(self, program: SuiteProgram) -> Json:
        """Run once under callgrind, with symbols."""
        run = run_of(program, self.way, self.case, "functions")
        run.directory.parent.mkdir(parents=True, exist_ok=True)
        out = run.directory.with_suffix(".callgrind")
        out.unlink(missing_ok=True)
        names = ("--compress-strings=no", "--compress-pos=no")
        run.carry_out(("valgrind", "--tool=callgrind", *names, f"--callgrind-out-file={out}", "--quiet"))
        if not out.is_file():
            raise BenchError(f"{run.what}: callgrind has written nothing to {out}")
        with out.open(errors="replace") as lines:
            found = by_function(lines)
        least = _LEAST * found.total()
        return {name: count for name, count in found.most_common() if count >= least}
