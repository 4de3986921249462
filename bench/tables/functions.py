"""For each program the function in which trodden adds most instructions compared with clang."""

from __future__ import annotations

from bench.build.configurations import GUIDED, label_of
from bench.measures.functions import Functions
from bench.measures.instructions import Instructions
from bench.measures.model import Figures, Json
from bench.tables.layout.means import Cell
from bench.tables.layout.model import Column, Programs, Rows, Section, Table
from bench.tables.layout.values import MILLIONS, SHARE, Value

_PLAIN, _RIVAL = "clang", "clang-ir"
_OURS = ("edges", "paths", GUIDED)
_CONFIGS = (_PLAIN, _RIVAL, *_OURS)
_TOTAL = "total"
_LEAST = 0.001
_LONGEST = 60


def furthest_behind(figures: Figures, config: str) -> str | None:
    """The function to which a configuration adds most compared with clang, unless that is negligible.

    Only functions that exist in all builds are compared: others were inlined in some of them.
    """
    plain, rival, ours = (figures.get(Functions(each).key) or {} for each in (_PLAIN, _RIVAL, config))
    behind = {name: ours[name] - rival[name] for name in plain if name in rival and name in ours}
    worst = max(behind, key=lambda name: behind[name], default=None)
    least = _LEAST * (figures.get(Instructions(_PLAIN).key) or 0)
    return worst if worst is not None and behind[worst] > least else None


def _rows_of(config: str) -> Rows:
    """A row for each program, labelled with it and its function."""

    def rows(programs: Programs, overall: Json) -> Programs:
        found: dict[str, Figures] = {}
        for program, figures in programs.items():
            function = furthest_behind(figures, config)
            if function is not None:
                counts = {each: (figures.get(Functions(each).key) or {}).get(function) for each in _CONFIGS}
                total = figures.get(Instructions(_PLAIN).key)
                found[f"{program}: {_short(function)}"] = {**counts, _TOTAL: total}
        return found

    return rows


def _short(name: str) -> str:
    """The name of a function without its parameters, truncated if it is long."""
    name = name.partition("(")[0]
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _added(config: str) -> Cell:
    def cell(counts: Figures) -> Value | None:
        count, plain = counts.get(config), counts.get(_PLAIN)
        return None if count is None or plain is None else count - plain

    return cell


def _share(counts: Figures) -> Value | None:
    """The share of this function in the instructions of the plain program."""
    total, plain = counts.get(_TOTAL), counts.get(_PLAIN)
    return plain / total if total and plain is not None else None


def _section(config: str) -> Section:
    label = label_of(config)
    columns = [
        Column(_PLAIN, label_of(_PLAIN), lambda counts: counts.get(_PLAIN), MILLIONS),
        Column("share", "of the program", _share, SHARE),
        *(Column(each, label_of(each), _added(each), MILLIONS) for each in (_RIVAL, *_OURS)),
    ]
    note = (
        f"For each program the function in which {label} adds most compared with {label_of(_RIVAL)}: its "
        "instructions in the plain build, without its callees, and what each profile adds to them. Programs "
        "are left out where this is not a thousandth of all their instructions."
    )
    return Section(config, f"Furthest behind with {label}", tuple(columns), note, rows=_rows_of(config))


TABLE = Table(
    name="functions",
    title="Where trodden is behind, function by function",
    description=(
        "Where functions are inlined in one build and not in another, not all of a difference is due to the "
        "profile."
    ),
    measures=(Instructions(_PLAIN), *(Functions(config) for config in _CONFIGS)),
    sections=tuple(map(_section, _OURS)),
)
