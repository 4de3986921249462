"""What tables read out of the raw figures of a program: counts, times, sizes, and ratios to the baseline.

All return ``None`` if the figures do not have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench.build.configurations import baseline_of
from bench.measures.model import Figures, Json
from bench.measures.times import FEWEST
from bench.suite.model import CaseName
from bench.tables.layout.means import Cell
from bench.tables.layout.values import Spread, Value, number_of


def instructions(figures: Figures, config: str, case: CaseName = "ref") -> int | None:
    """Instructions of a whole run."""
    found: int | None = figures.get(f"instructions/{config}/{case}")
    return found


def instruction_ratio(figures: Figures, config: str, case: CaseName = "ref") -> float | None:
    """Instructions of a run divided by those of the baseline."""
    return _ratio(instructions(figures, config, case), instructions(figures, baseline_of(config), case))


def seconds(figures: Figures, config: str, case: CaseName = "long") -> Spread | None:
    """Processor time of a run."""
    rounds = figures.get(f"times/{case}", {}).get("rounds", [])
    return _spread([each[config][0] for each in rounds if config in each])


def time_ratio(figures: Figures, config: str, case: CaseName = "long") -> Spread | None:
    """Processor time of a run divided by that of the baseline in the same round."""
    return _time_ratio(figures, config, case, 0)


def elapsed_ratio(figures: Figures, config: str, case: CaseName = "long") -> Spread | None:
    """Elapsed time of a run divided by that of the baseline in the same round."""
    return _time_ratio(figures, config, case, 1)


def added_seconds(figures: Figures, config: str, case: CaseName) -> Spread | None:
    """Processor time of a run minus that of the baseline in the same round."""
    together = rounds_together(figures, config, case)
    return _spread([each[config][0] - each[baseline_of(config)][0] for each in together])


def rounds_together(figures: Figures, config: str, case: CaseName = "long") -> list[Json]:
    """The rounds in which a build was timed together with its baseline."""
    rounds = figures.get(f"times/{case}", {}).get("rounds", [])
    return [each for each in rounds if config in each and baseline_of(config) in each]


def _time_ratio(figures: Figures, config: str, case: CaseName, which: int) -> Spread | None:
    together = rounds_together(figures, config, case)
    return _spread([each[config][which] / each[baseline_of(config)][which] for each in together])


def _spread(found: Sequence[float]) -> Spread | None:
    """A median and quartiles, unless there are too few figures for these to mean anything."""
    return Spread.of(found) if len(found) >= FEWEST else None


def peak_memory(figures: Figures, config: str, case: CaseName = "ref") -> float | None:
    """The peak of resident memory in bytes, the median of some runs."""
    found: list[int] | None = figures.get(f"memory/{config}/{case}", {}).get("most")
    return float(median(found)) if found else None


def build_seconds(figures: Figures, config: str) -> float | None:
    """Processor time of the build."""
    found: float | None = figures.get(f"build/{config}", {}).get("seconds")
    return found


def build_ratio(figures: Figures, config: str) -> float | None:
    """Processor time of the build divided by that of the baseline."""
    return _ratio(build_seconds(figures, config), build_seconds(figures, baseline_of(config)))


def executable_size(figures: Figures, config: str, part: str = "data") -> int | None:
    """Bytes of the executable: the whole ``file``, its ``code``, code and ``data``, or ``zeroed`` memory."""
    found: int | None = figures.get(f"build/{config}", {}).get(part)
    return found


def size_ratio(figures: Figures, config: str, part: str = "data") -> float | None:
    """Bytes of the executable divided by those of the baseline."""
    return _ratio(executable_size(figures, config, part), executable_size(figures, baseline_of(config), part))


def profile_size(figures: Figures, config: str, part: str = "final", case: CaseName = "ref") -> int | None:
    """Bytes of the profile: ``raw`` as the run writes it, ``final`` as it is stored."""
    found: int | None = figures.get(f"profile size/{config}/{case}", {}).get(part)
    return found


def relative_overhead(ours: Cell, theirs: Cell) -> Cell:
    """What our ratio adds to one, divided by what theirs adds; nothing unless theirs adds something.

    Of a ratio with a spread the lower quartile has to be above one: otherwise what is added may be noise, by
    which nothing can be divided.
    """

    def cell(figures: Figures) -> Value | None:
        other = theirs(figures)
        our_ratio, their_ratio = number_of(ours(figures)), number_of(other)
        least = other.low if isinstance(other, Spread) else their_ratio
        if our_ratio is None or their_ratio is None or least is None or least <= 1:
            return None
        return (our_ratio - 1) / (their_ratio - 1)

    return cell


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other
