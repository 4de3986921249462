"""Instructions of a run by function, by callgrind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench.measures.model import Json, RunMeasure
from bench.run.callgrind import by_function, counting_by_function
from bench.run.executables import run_of
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError

_LEAST = 0.0005
"""Functions with a smaller share of all instructions are left out."""


@dataclass(frozen=True)
class Functions(RunMeasure):
    """The instructions of each function, without those of its callees."""

    kind: ClassVar[str] = "functions"

    @property
    def tools(self) -> tuple[str, ...]:
        """Callgrind is part of valgrind."""
        return ("valgrind",)

    def measure(self, program: SuiteProgram) -> Json:
        """Run once under callgrind, with symbols."""
        run = run_of(program, self.config, self.case, "functions")
        run.directory.parent.mkdir(parents=True, exist_ok=True)
        out = run.directory.with_suffix(".callgrind")
        run.execute(counting_by_function(out))
        if not out.is_file():
            raise BenchError(f"{run.what}: callgrind did not write {out}")
        with out.open(errors="replace") as lines:
            found = by_function(lines)
        least = _LEAST * found.total()
        return {name: count for name, count in found.most_common() if count >= least}
