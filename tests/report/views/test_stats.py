"""What stats says, at a terminal and for other programs."""

from __future__ import annotations

import json

from tests.profile.making import function, profile_of, unit_of
from tests.report.printed import rows_of, text_of, wide_console
from tests.report.sample_paths import GOOD, run
from trodden.report.render.stats import print_stats
from trodden.report.views import stats


def test_stats_in_all_forms() -> None:
    report = stats.report_stats(run(GOOD))
    assert list(report.functions) == ["handle", "classify"]
    (program,) = rows_of(stats.to_plain(report, per_function=False))
    assert program[:2] == ["program", "/bin/prog"]
    rows = rows_of(stats.to_plain(report, per_function=True))
    assert [row[:2] for row in rows[1:]] == [["function", "handle"], ["function", "classify"]]
    document = json.loads(json.dumps(stats.to_document(report, per_function=True)))
    assert document["functions"][1]["name"] == "classify"
    assert document["functions"][1]["paths"] == 2
    assert document["functions"][1]["correct"] == 0.5
    assert document["functions"][1]["predicted_average_edges"] == (600 * 4 + 400 * 1) / 1000
    assert document["whole"]["routines"] == 2
    assert "functions" not in stats.to_document(report, per_function=False)
    console = wide_console()
    print_stats(report, console, per_function=True)
    titles = ("Executed paths", "Paths predicted by edge counts alone", "most paths of one")
    for part in (*titles, "50.0%", "classify"):
        assert part in text_of(console)


def test_stats_name_functions_without_paths() -> None:
    edges = profile_of(unit_of(function("e", "a>exit")), {})
    report = stats.report_stats(edges)
    assert report.without == ("e",)
    assert ["without", "e"] in rows_of(stats.to_plain(report, per_function=False))
    console = wide_console()
    print_stats(report, console, per_function=False)
    assert "no paths were counted in 1 function" in text_of(console)
