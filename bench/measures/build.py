"""What a build takes: the processor time of making it, and how large the executable becomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.run.executables import build_seconds, executable
from bench.run.fingerprints import build_fingerprint
from bench.suite.model import SuiteProgram


@dataclass(frozen=True)
class BuildFigures(Measure):
    """``seconds`` of processor time, and bytes: of the ``file``, of ``code`` and of code and ``data`` in it.

    ``zeroed`` is what is only reserved.
    """

    way: str

    @property
    def key(self) -> str:
        """By way."""
        return f"build/{self.way}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build."""
        return hashed(code_of(__name__), build_fingerprint(program, self.way))

    def take(self, program: SuiteProgram) -> Json:
        """Look at what was built."""
        return {
            "seconds": build_seconds(program, self.way),
            **sizes(executable(program, self.way)),
        }


def sizes(path: Path) -> dict[str, int]:
    """The bytes of an executable: what debuggers and profilers alone read is in the file and nowhere else."""
    code = data = zeroed = 0
    with path.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            flags, size = section["sh_flags"], section["sh_size"]
            if flags & SH_FLAGS.SHF_ALLOC and section["sh_type"] == "SHT_NOBITS":
                zeroed += size
            elif flags & SH_FLAGS.SHF_ALLOC:
                data += size
                code += size if flags & SH_FLAGS.SHF_EXECINSTR else 0
    return {"file": path.stat().st_size, "code": code, "data": data, "zeroed": zeroed}
