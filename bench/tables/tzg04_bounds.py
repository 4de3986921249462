"""TZG04 §4.1: how much of the flow is in longer paths, and how well their counts are known by degree."""

from __future__ import annotations

from bench.build.configurations import PAIRS, label_of, overlap_config
from bench.figures.crossings import KINDS
from bench.figures.longer_agreement import COMPARED, LongerAgreement
from bench.papers import tzg04
from bench.tables.layout.cells import picked, quotient, under
from bench.tables.layout.means import AVERAGE
from bench.tables.layout.model import Column, PaperRow, Plot, Section, Table
from bench.tables.layout.values import ADDED, COUNT, FACTOR, SHARE
from bench.tables.tzg04_cells import (
    AUTO,
    BOUNDS,
    CHOSEN,
    PATHS,
    WHICH,
    by_auto,
    by_degree,
    exactly,
    flow,
    loops,
    real_flow,
    relative,
    returned_elsewhere,
    returns,
    share,
    together,
)

_AGREEMENT = LongerAgreement()


def _bounds(which: str, what: str, of_equations: bool = False) -> Column:
    named = f"{what} by equations" if of_equations else what
    head = f"{what}, {WHICH[which]}" + (", equations" if of_equations else "")
    name = f"{which}-{what}" + ("-equations" if of_equations else "")
    return Column(name, head, relative(which, named), ADDED, (AVERAGE, together(which, named)))


_FLOW = Section(
    "flow",
    "Paths that go on in another (TZG04 Table 1)",
    (
        Column("loops", "over back edges", share(loops), SHARE, (AVERAGE,)),
        Column("procedures", "over returns", share(returns), SHARE, (AVERAGE,)),
        Column("total", "together", share(lambda found: loops(found) + returns(found)), SHARE, (AVERAGE,)),
        Column("untold", "returned elsewhere", share(returned_elsewhere), SHARE, (AVERAGE,)),
        Column("cut", "at cuts", share(lambda found: int(found["cut"])), SHARE, (AVERAGE,)),
        Column("paths", "paths executed", picked(BOUNDS, "paths"), COUNT),
    ),
    "Of all executions of paths, those that ended on a back edge, and those that returned to a function with "
    "probes, so that each path counts once. An iteration of a loop of one block is a path here, as it is in "
    "the paper. *Returned elsewhere* are those that returned to code without probes, or through calls over "
    "which nothing is counted, such as those of functions with exceptions that have no room for probes; *at "
    "cuts* are those that ended only because their function has too many, as it is with paths alone.",
    tuple(
        PaperRow(
            f"{row.program}, {tzg04.SOURCE}",
            "TZG04 Table 1",
            {"loops": row.loops / 100, "procedures": row.procedures / 100, "total": row.total / 100},
        )
        for row in tzg04.TABLE_1
    ),
)

_TABLE_8 = Section(
    "bounds",
    "Bounds at a third of the largest degree (TZG04 Table 8)",
    (
        Column("real", "executions", real_flow(), COUNT),
        *(_bounds(which, what) for which in (PATHS, CHOSEN) for what in ("definite", "potential")),
        *(_bounds(CHOSEN, what, of_equations=True) for what in ("definite", "potential")),
        Column("auto-definite", "definite, by auto", by_auto("definite"), ADDED, (AVERAGE,)),
        Column("auto-potential", "potential, by auto", by_auto("potential"), ADDED, (AVERAGE,)),
        Column("k-chosen", "k, a third", picked(BOUNDS, "chosen"), COUNT, (AVERAGE,)),
        Column("k-largest", "k, largest", picked(BOUNDS, "largest"), COUNT, (AVERAGE,)),
    ),
    "The sums of all lower bounds (*definite*) and of all upper bounds (*potential*), relative to how often "
    "back edges, calls and returns were really crossed. *By paths* is what follows from paths and from the "
    "number of calls, *by auto* from a run with `--overlap auto`. *Equations* are those of the paper, the "
    "others the tightest bounds that all sums allow; a table of more than 65,536 pairs is solved the latter "
    "way only. The paper's averages are those of all flow together.",
    tuple(
        PaperRow(
            f"{row.program}, {tzg04.SOURCE}",
            "TZG04 Table 8",
            {
                "real": row.real,
                "paths-definite": row.definite_by_paths / row.real,
                "paths-potential": row.potential_by_paths / row.real,
                "chosen-definite-equations": row.definite / row.real,
                "chosen-potential-equations": row.potential / row.real,
                "k-chosen": row.chosen,
                "k-largest": row.largest,
            },
        )
        for row in tzg04.TABLE_8
    ),
)

_OF = {"loop": "loops", "call": "calls", "return": "returns"}


def _of_kind(which: str, what: str, kind: str) -> Column:
    head = f"{_OF[kind]}, {what}, {WHICH[which]}"
    return Column(f"{kind}-{which}-{what}", head, relative(which, what, (kind,)), ADDED, (AVERAGE,))


_BY_KIND = Section(
    "kinds",
    "The same for each kind of crossing",
    tuple(
        _of_kind(which, what, kind)
        for kind in KINDS
        for which in (PATHS, CHOSEN)
        for what in ("definite", "potential")
    ),
)


_POSSIBLE = flow(PATHS, "pairs")
_EXACT = Section(
    "exact",
    "Longer paths that are known exactly",
    (
        Column("possible", "possible by paths", _POSSIBLE, COUNT),
        *(
            Column(which, f"exact {head}", quotient(exactly(which), _POSSIBLE), SHARE, (AVERAGE,))
            for which, head in WHICH.items()
        ),
        *(
            Column(
                f"{config}-executed",
                f"of the executed, {label_of(config)}",
                quotient(picked(_AGREEMENT, config, "exact"), picked(_AGREEMENT, config, "compared")),
                SHARE,
                (AVERAGE,),
            )
            for config in COMPARED
        ),
    ),
    "*Possible* are the longer paths that paths and the number of calls do not rule out; a degree knows "
    "those exactly that it rules out, and those whose bounds are one number. The last columns are of the "
    "longer paths that were really executed, as a trace says.",
)


_FIGURES = Section(
    "degrees",
    "Bounds by degree (TZG04 Figures 5 and 6)",
    (
        *(
            Column(
                f"{name}-{what}",
                what if name == "all" else f"{name}, {what}",
                under(f"{name}-{what}"),
                FACTOR,
            )
            for name in ("all", "loops", "procedures")
            for what in ("definite", "potential")
        ),
        Column("exact", "known exactly", under("exact"), SHARE),
    ),
    "Flow relative to the real one, which is 1: the average of the definite flow and the geometric mean of "
    "the potential flow of all programs, each of which has no more than its own largest degree. -1 are paths "
    "alone.",
    rows=by_degree,
    first="degree",
)


def _compared(config: str) -> tuple[Column, ...]:
    name = label_of(config)
    columns = [
        Column(f"{config}-compared", f"{name}: compared", picked(_AGREEMENT, config, "compared"), COUNT),
        Column(f"{config}-exact", "one number", picked(_AGREEMENT, config, "exact"), COUNT),
        Column(f"{config}-differ", "differ", picked(_AGREEMENT, config, "differ"), COUNT),
        Column(f"{config}-apart", "not compared", picked(_AGREEMENT, config, "apart"), COUNT),
    ]
    if config == overlap_config(PAIRS):
        columns.insert(1, Column(f"{config}-pairs", "by pairs", picked(_AGREEMENT, config, "pairs"), COUNT))
    return tuple(columns)


_COMPARISON = Section(
    "agreement",
    "Longer paths compared with a trace",
    tuple(column for config in COMPARED for column in _compared(config)),
    "The same run with a trace, with pairs and with overlaps. Each longer path that one of them has is "
    "compared with the trace: where it has *one number*, this has to be the same, and bounds have to contain "
    "it. Where a function has too many paths to count and is cut, those of the trace are divided in the same "
    "places. *Not compared* are those of which one of the profiles does not tell everything, such as "
    "functions with so many paths that a trace cuts them too, in other places, and calls through pointers, "
    "which a trace assigns to whom it finds.",
)

TABLE = Table(
    "tzg04-bounds",
    "Longer paths: what overlaps tell",
    "Paths over back edges, calls and returns (TZG04 §4.1): how much of the flow they have, how narrow the "
    "bounds on their counts are by the degree of overlaps, and whether overlaps, pairs of paths and traces "
    "agree. All degrees are derived from one run of the largest degree, since overlaps of a degree are sums "
    "of those of a higher one.",
    (BOUNDS, AUTO, _AGREEMENT),
    (_FLOW, _FIGURES, _TABLE_8, _BY_KIND, _EXACT, _COMPARISON),
    (
        Plot(
            "flow",
            "Definite and potential flow by degree, real flow = 1",
            "degrees",
            ("all-definite", "all-potential"),
            "flow",
            "lines",
        ),
        Plot("exact", "Longer paths known exactly, by degree", "degrees", ("exact",), "share", "lines"),
        Plot(
            "bounds",
            "Definite and potential flow at a third of the largest degree, real flow = 1",
            "bounds",
            ("chosen-definite", "chosen-potential"),
            "flow",
            base=1.0,
        ),
    ),
)
