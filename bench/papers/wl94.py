"""Wu, Larus: Static Branch Frequency and Program Profile Analysis (1994), §7: the scores of its estimates.

They are those of Wall's matching, unweighted (U) and weighted (W), of the most frequent 10 to 50 percent.
Digits that are illegible in the scan were computed from the geometric means below the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

KINDS = ("local_blocks", "local_edges", "invocations", "calls", "global_blocks", "global_edges")
"""What is scored, in the order of the paper's tables."""

SHORT = ("LBK", "LBR", "FI", "FC", "GBK", "GBR")
"""The abbreviations of Table 8."""

LONG = ("local blocks", "local edges", "invocations", "calls", "global blocks", "global edges")
"""The same in words."""

PERCENTS = (10, 20, 30, 40, 50)
"""The percentages of what was executed that are scored, the most frequent first."""

PERCENT = 20
"""The percentage of Table 8 and of the text of the paper."""

_SPEC92 = {
    # Table 2
    "local_blocks": """
        espresso .71 .71  .76 .78  .79 .83  .81 .83  .83 .88
        li       .85 .86  .84 .84  .82 .82  .83 .82  .84 .86
        eqntott  .84 .85  .86 .87  .88 .88  .88 .88  .87 .91
        compress .79 .89  .77 .87  .82 .88  .85 .88  .83 .91
        sc       .80 .76  .78 .78  .82 .81  .85 .81  .87 .85
        gcc      .73 .76  .75 .78  .76 .80  .78 .80  .81 .87
        mean     .79 .80  .79 .82  .81 .84  .83 .84  .84 .88
    """,
    # Table 3
    "local_edges": """
        espresso .57 .61  .64 .68  .67 .75  .71 .80  .76 .83
        li       .61 .67  .64 .68  .72 .73  .74 .76  .78 .81
        eqntott  .73 .69  .77 .80  .78 .83  .81 .88  .84 .89
        compress .65 .74  .72 .80  .71 .81  .74 .84  .77 .87
        sc       .50 .53  .57 .60  .62 .65  .67 .69  .72 .74
        gcc      .47 .54  .52 .60  .58 .65  .65 .72  .71 .77
        mean     .58 .62  .64 .69  .68 .73  .72 .78  .76 .82
    """,
    # Table 4
    "invocations": """
        espresso .57 .66  .68 .83  .70 .97  .77 .98  .77 .99
        li       .39 .76  .52 .92  .67 .96  .83 .97  .89 .98
        eqntott  .43 .98  .46 .99  .53 1.0  .48 1.0  .65 1.0
        compress 1.0 1.0  .50 1.0  .80 1.0  .86 1.0  .88 1.0
        sc       .50 .57  .50 .91  .44 .91  .52 .97  .52 .99
        gcc      .35 .32  .47 .53  .52 .67  .63 .76  .71 .81
        mean     .51 .67  .52 .85  .69 .91  .67 .94  .73 .96
    """,
    # Table 5
    "calls": """
        espresso .53 .63  .54 .76  .65 .87  .66 .89  .74 .95
        li       .31 .81  .34 .84  .49 .90  .65 .91  .86 .94
        eqntott  .30 .97  .37 .98  .45 .99  .47 1.0  .47 1.0
        compress 1.0 1.0  .75 1.0  .67 1.0  .71 1.0  .78 1.0
        sc       .32 .41  .26 .70  .33 .78  .33 .79  .51 .99
        gcc      .18 .16  .26 .32  .33 .46  .42 .57  .50 .66
        mean     .38 .57  .39 .72  .47 .81  .52 .85  .63 .91
    """,
    # Table 6
    "global_blocks": """
        espresso .53 .53  .66 .74  .70 .92  .79 .98  .79 1.0
        li       .44 .75  .48 .84  .52 .94  .66 .96  .73 .97
        eqntott  .66 .30  .69 .98  .56 1.0  .60 1.0  .60 1.0
        compress .54 .65  .67 .78  .66 .90  .73 .97  .71 .98
        sc       .54 .81  .54 .90  .56 .96  .56 .99  .62 .99
        gcc      .26 .27  .38 .50  .46 .64  .55 .78  .65 .86
        mean     .48 .51  .56 .77  .57 .88  .64 .94  .68 .97
    """,
    # Table 7
    "global_edges": """
        espresso .50 .55  .61 .75  .69 .93  .73 .98  .80 .99
        li       .35 .76  .41 .85  .61 .94  .72 .95  .78 .97
        eqntott  .63 .30  .60 .99  .57 1.0  .54 1.0  .68 1.0
        compress .47 .55  .63 .82  .67 .91  .64 .94  .71 .98
        sc       .40 .77  .43 .91  .45 .94  .56 .98  .68 1.0
        gcc      .26 .28  .34 .49  .44 .67  .58 .78  .69 .86
        mean     .42 .50  .49 .78  .56 .89  .62 .94  .72 .97
    """,
}

_COMMANDS = """
    cal     .49 .55 1.0 1.0 .80 .80
    cmp     .86 .93 0.0 1.0 .86 .93
    ed      .74 .65 .96 .31 .82 .81
    grep    .66 .52 1.0 1.0 .86 .92
    factor  .89 .87 0.0 1.0 .94 .94
    pack    .90 .77 1.0 1.0 .42 .43
    split   .99 .99 1.0 0.0 .99 .99
    sum     .69 .71 1.0 0.0 .69 .71
    tsort   .77 .76 1.0 1.0 .87 .81
    uniq    .81 .73 1.0 1.0 .39 .45
    wc      .92 .55 1.0 1.0 .95 .91
    average .79 .73 .82 .76 .78 .79
"""


def _rows(text: str) -> dict[str, tuple[float, ...]]:
    split = [line.split() for line in text.strip().splitlines()]
    return {name: tuple(map(float, figures)) for name, *figures in split}


_TABLES = {kind: _rows(text) for kind, text in _SPEC92.items()}
_TABLE_8 = _rows(_COMMANDS)

Pairs = tuple[tuple[float, float], ...]
"""The unweighted and the weighted score for each of the percentages."""


def _pairs(figures: tuple[float, ...]) -> Pairs:
    return tuple(zip(figures[::2], figures[1::2], strict=True))


SPEC92: Mapping[str, Mapping[str, Pairs]] = {
    kind: {name: _pairs(figures) for name, figures in rows.items() if name != "mean"}
    for kind, rows in _TABLES.items()
}
"""Tables 2 to 7: by what is scored and by program."""

SPEC92_MEANS: Mapping[str, Pairs] = {kind: _pairs(rows["mean"]) for kind, rows in _TABLES.items()}
"""The last rows of Tables 2 to 7, geometric means.

They follow from the rows above them, but for the unweighted invocations at 30 percent, which should be .60.
"""


def _averages(rows: Mapping[str, Pairs]) -> Pairs:
    by_percent = zip(*rows.values(), strict=True)
    return tuple((fmean(each[0] for each in pairs), fmean(each[1] for each in pairs)) for pairs in by_percent)


SPEC92_AVERAGES: Mapping[str, Pairs] = {kind: _averages(rows) for kind, rows in SPEC92.items()}
"""Averages of the rows of Tables 2 to 7, for comparison with averages; the paper does not print them."""

COMMANDS: Mapping[str, tuple[float, ...]] = {
    name: figures for name, figures in _TABLE_8.items() if name != "average"
}
"""Table 8: Unix commands, all kinds of scores, weighted and at 20 percent."""

UNIX = _TABLE_8["average"]
"""The averages over the Unix commands (Table 8)."""

_AT = PERCENTS.index(PERCENT)

SPEC = tuple(SPEC92_MEANS[kind][_AT][1] for kind in KINDS)
"""The geometric means over SPECint92, weighted and at 20 percent (Tables 2 to 7)."""

SPEC_AVERAGE = tuple(SPEC92_AVERAGES[kind][_AT][1] for kind in KINDS)
"""The averages of the same rows."""

SCORES: Mapping[str, tuple[float, ...]] = {
    **{name: tuple(SPEC92[kind][name][_AT][1] for kind in KINDS) for name in SPEC92[KINDS[0]]},
    **COMMANDS,
}
"""Every program of the paper, weighted and at 20 percent (Tables 2 to 8); theirs are of 1994."""
