"""Where it goes: for each program the function in which trodden is furthest behind its nearest rival."""

from __future__ import annotations

from bench.build.configurations import GUIDED, known
from bench.measures.functions import Functions
from bench.measures.instructions import Instructions
from bench.measures.model import Figures, Json
from bench.tables.layout.means import Cell
from bench.tables.layout.model import Column, Programs, Rows, Section, Table
from bench.tables.layout.values import MILLIONS, SHARE, Value

_PLAIN, _RIVAL = "clang", "clang-ir"
_OURS = ("edges", "paths", GUIDED)
_WAYS = (_PLAIN, _RIVAL, *_OURS)
_TOTAL = "total"
_LEAST = 0.001
_LONGEST = 60


def furthest_behind(figures: Figures, way: str) -> str | None:
    """The function to which a way adds more than the rival by the most, if that is worth mentioning.

    What a compiler has put into other functions cannot be compared: only those count that all builds have.
    """
    plain, rival, ours = (figures.get(Functions(each).key) or {} for each in (_PLAIN, _RIVAL, way))
    behind = {name: ours[name] - rival[name] for name in plain if name in rival and name in ours}
    worst = max(behind, key=lambda name: behind[name], default=None)
    least = _LEAST * (figures.get(Instructions(_PLAIN).key) or 0)
    return worst if worst is not None and behind[worst] > least else None


def _rows_of(way: str) -> Rows:
    """A row for each program, named after it and its function."""

    def rows(programs: Programs, whole: Json) -> Programs:
        found: dict[str, Figures] = {}
        for program, figures in programs.items():
            function = furthest_behind(figures, way)
            if function is not None:
                counts = {each: (figures.get(Functions(each).key) or {}).get(function) for each in _WAYS}
                total = figures.get(Instructions(_PLAIN).key)
                found[f"{program}: {_short(function)}"] = {**counts, _TOTAL: total}
        return found

    return rows


def _short(name: str) -> str:
    """A function's name without its parameters, cut where it is long: templates have no end."""
    name = name.partition("(")[0]
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _added(way: str) -> Cell:
    def cell(counts: Figures) -> Value | None:
        count, plain = counts.get(way), counts.get(_PLAIN)
        return None if count is None or plain is None else count - plain

    return cell


def _share(counts: Figures) -> Value | None:
    """The part of the plain program's instructions that are this function's."""
    total, plain = counts.get(_TOTAL), counts.get(_PLAIN)
    return plain / total if total and plain is not None else None


def _section(way: str) -> Section:
    shown = known(way).shown
    columns = [
        Column(_PLAIN, known(_PLAIN).shown, lambda counts: counts.get(_PLAIN), MILLIONS),
        Column("share", "of the program", _share, SHARE),
        *(Column(each, known(each).shown, _added(each), MILLIONS) for each in (_RIVAL, *_OURS)),
    ]
    about = (
        f"For each program the function in which {shown} adds more than {known(_RIVAL).shown} by the most: "
        "its instructions in the plain build, without what it calls, and what each profile adds there. "
        "Programs are left out where this is not a thousandth of all their instructions."
    )
    return Section(way, f"Furthest behind with {shown}", tuple(columns), about, rows=_rows_of(way))


TABLE = Table(
    name="functions",
    title="Where trodden is behind, function by function",
    about=(
        "Functions that are put into others in one build and not in another cannot be compared; there, more "
        "or less is not all the profile's."
    ),
    needs=(Instructions(_PLAIN), *(Functions(way) for way in _WAYS)),
    sections=tuple(map(_section, _OURS)),
)
