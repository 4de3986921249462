"""What tables read out of the raw figures of a program; ``None`` where they do not have it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench.build.configurations import peer
from bench.measures.model import Figures, Json
from bench.measures.times import FEWEST
from bench.suite.model import CaseName
from bench.tables.layout.means import Cell
from bench.tables.layout.values import Spread, Value, number_of


def instructions(figures: Figures, way: str, case: CaseName = "ref") -> int | None:
    """Instructions of a whole run."""
    found: int | None = figures.get(f"instructions/{way}/{case}")
    return found


def instruction_ratio(figures: Figures, way: str, case: CaseName = "ref") -> float | None:
    """Instructions of a run for each one of the plain build."""
    return _ratio(instructions(figures, way, case), instructions(figures, peer(way), case))


def seconds(figures: Figures, way: str, case: CaseName = "long") -> Spread | None:
    """Processor time of a run."""
    rounds = figures.get(f"times/{case}", {}).get("rounds", [])
    return _spread([each[way][0] for each in rounds if way in each])


def time_ratio(figures: Figures, way: str, case: CaseName = "long") -> Spread | None:
    """Processor time of a run beside that of the plain build, each round by itself."""
    return _time_ratio(figures, way, case, 0)


def elapsed_ratio(figures: Figures, way: str, case: CaseName = "long") -> Spread | None:
    """The same by the clock on the wall, which is what threads are for."""
    return _time_ratio(figures, way, case, 1)


def added_seconds(figures: Figures, way: str, case: CaseName) -> Spread | None:
    """The processor time that a run takes more than the plain build, each round by itself."""
    together = rounds_together(figures, way, case)
    return _spread([each[way][0] - each[peer(way)][0] for each in together])


def rounds_together(figures: Figures, way: str, case: CaseName = "long") -> list[Json]:
    """The rounds in which a build was timed together with the plain one."""
    rounds = figures.get(f"times/{case}", {}).get("rounds", [])
    return [each for each in rounds if way in each and peer(way) in each]


def _time_ratio(figures: Figures, way: str, case: CaseName, which: int) -> Spread | None:
    together = rounds_together(figures, way, case)
    return _spread([each[way][which] / each[peer(way)][which] for each in together])


def _spread(found: Sequence[float]) -> Spread | None:
    """A median and quartiles, unless there are too few figures for these to say anything."""
    return Spread.of(found) if len(found) >= FEWEST else None


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
    """Bytes of the executable: the whole ``file``, its ``code``, code and ``data``, or what is ``zeroed``."""
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
    """What our ratio adds to one, for each part that theirs adds; nothing unless theirs adds something.

    Of a ratio with a spread the lower quartile has to: what is added may else be noise, by which nothing can
    be divided.
    """

    def cell(figures: Figures) -> Value | None:
        rival = theirs(figures)
        one, other = number_of(ours(figures)), number_of(rival)
        least = rival.low if isinstance(rival, Spread) else other
        if one is None or other is None or least is None or least <= 1:
            return None
        return (one - 1) / (other - 1)

    return cell


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other
