"""The cost of a build: its processor time, and the size of the executable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from bench.measures.model import BuildMeasure, Json
from bench.run.executables import build_seconds, executable
from bench.suite.model import SuiteProgram


@dataclass(frozen=True)
class BuildCost(BuildMeasure):
    """``seconds`` of processor time; bytes of the ``file``, of ``code``, of code and ``data``.

    ``zeroed`` are the bytes that are reserved without being part of the file.
    """

    kind: ClassVar[str] = "build"

    def measure(self, program: SuiteProgram) -> Json:
        """Look at the finished build."""
        return {
            "seconds": build_seconds(program, self.config),
            **sizes(executable(program, self.config)),
        }


def sizes(path: Path) -> dict[str, int]:
    """The bytes of an executable; sections that are not mapped at run time count for the file alone."""
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
