"""What tables read out of the raw figures of a program; ``None`` where they do not have it."""

from __future__ import annotations

from statistics import median

from bench.measures.model import Figures
from bench.suite.model import CaseName
from bench.tables.means import Cell
from bench.tables.values import Spread, Value, number_of
from bench.ways import peer


def instructions(figures: Figures, way: str, case: CaseName = "ref") -> int | None:
    """Instructions of a whole run."""
    found: int | None = figures.get(f"instructions/{way}/{case}")
    return found


def instruction_ratio(figures: Figures, way: str, case: CaseName = "ref") -> float | None:
    """Instructions of a run for each one of the plain build."""
    return _ratio(instructions(figures, way, case), instructions(figures, peer(way), case))


def seconds(figures: Figures, way: str, case: CaseName = "ref") -> Spread | None:
    """Processor time of a run."""
    rounds = figures.get(f"times/{case}", {}).get("rounds", [])
    found = [each[way][0] for each in rounds if way in each]
    return Spread.of(found) if found else None


def time_ratio(figures: Figures, way: str, case: CaseName = "ref") -> Spread | None:
    """Processor time of a run beside that of the plain build, each round by itself."""
    return _time_ratio(figures, way, case, 0)


def elapsed_ratio(figures: Figures, way: str, case: CaseName = "ref") -> Spread | None:
    """The same by the clock on the wall, which is what threads are for."""
    return _time_ratio(figures, way, case, 1)


def _time_ratio(figures: Figures, way: str, case: CaseName, which: int) -> Spread | None:
    rounds = figures.get(f"times/{case}", {}).get("rounds", [])
    plain = peer(way)
    found = [each[way][which] / each[plain][which] for each in rounds if way in each and plain in each]
    return Spread.of(found) if found else None


def peak_memory(figures: Figures, way: str, case: CaseName = "ref") -> float | None:
    """The most memory that was ever resident, in bytes, in the median of some runs."""
    found: list[int] | None = figures.get(f"memory/{way}/{case}", {}).get("most")
    return float(median(found)) if found else None


def build_seconds(figures: Figures, way: str) -> float | None:
    """The processor time that the build took."""
    found: float | None = figures.get(f"build/{way}", {}).get("seconds")
    return found


def build_ratio(figures: Figures, way: str) -> float | None:
    """The same beside that of the plain build."""
    return _ratio(build_seconds(figures, way), build_seconds(figures, peer(way)))


def executable_size(figures: Figures, way: str, part: str = "data") -> int | None:
    """Bytes of the executable: the whole ``file``, its ``code``, or code and ``data``."""
    found: int | None = figures.get(f"build/{way}", {}).get(part)
    return found


def size_ratio(figures: Figures, way: str, part: str = "data") -> float | None:
    """The same for each byte of the plain build."""
    return _ratio(executable_size(figures, way, part), executable_size(figures, peer(way), part))


def profile_size(figures: Figures, way: str, part: str = "final", case: CaseName = "ref") -> int | None:
    """Bytes of the profile: ``raw`` as the run leaves it, ``final`` as it is kept."""
    found: int | None = figures.get(f"profile size/{way}/{case}", {}).get(part)
    return found


def added_beside(ours: Cell, theirs: Cell) -> Cell:
    """What our ratio adds to one, for each part that theirs adds; nothing unless theirs adds something."""

    def cell(figures: Figures) -> Value | None:
        one, other = number_of(ours(figures)), number_of(theirs(figures))
        return None if one is None or other is None or other <= 1 else (one - 1) / (other - 1)

    return cell


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other
