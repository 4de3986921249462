"""Where two runs diverge, for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trodden.compare.difference import Common
from trodden.compare.model import Difference
from trodden.profile.model import Count
from trodden.report.fields import tabbed
from trodden.report.views.difference import (
    DifferenceReport,
    action,
    common_rows,
    kind_name,
    location,
    sentence,
)

_HEADINGS = (
    (
        "#common",
        *("basis", "A", "B", "common", "static", "dynamic", "instructions", "instructions dynamic"),
        *("only A", "only B"),
    ),
    (
        "#difference",
        *("rank", "kind", "function", "A", "A of", "B", "B of", "evidence", "branch", "way", "path", "more"),
    ),
    ("#unpaired", "function", "run", "reason"),
    ("#counts", "function"),
    ("#instructions", "kind"),
    ("#note", "what"),
)
_ESTIMATE_HEADING = ("#estimate", "run", "rates")


def to_document(report: DifferenceReport) -> dict[str, Any]:
    """The report as dictionaries and lists."""
    sides = {"A": "first", "B": "second"}
    estimates = {sides[run]: {"rates": each.rates} for run, each in report.marks()}
    return {
        "first": report.files[0],
        "second": report.files[1],
        **({"estimates": estimates} if estimates else {}),
        "same": report.found.same,
        "common": {basis.value: _common(common) for basis, common in common_rows(report.found)},
        "differences": [_difference(report, rank, each) for rank, each in report.shown],
        "unpaired": [
            {"function": each.name, "run": "first" if each.first else "second", "reason": each.reason}
            for each in report.found.unpaired
        ],
        "compared_by_counts": list(report.found.by_counts),
        "instructions": report.instructions.value,
        "notes": list(report.notes),
    }


def _common(common: Common) -> dict[str, Any]:
    return {
        "first": common.first,
        "second": common.second,
        "common": common.common,
        "only_first": common.first - common.common,
        "only_second": common.second - common.common,
        "static": common.static,
        "dynamic": common.dynamic,
        "instructions": common.common_instructions,
        "instructions_dynamic": common.dynamic_instructions,
    }


def _side(count: Count, of: Count) -> dict[str, Any]:
    """How often one run did something; an estimate has only a share."""
    return {"share": count / of} if isinstance(of, float) else {"count": count, "of": of}


def _difference(report: DifferenceReport, rank: int, each: Difference) -> dict[str, Any]:
    branches = report.branches
    shares, function, branching = each.what, each.function, each.branching
    document: dict[str, Any] = {
        "rank": rank,
        "kind": kind_name(each),
        "function": each.name,
        "first": _side(shares.first, shares.first_of),
        "second": _side(shares.second, shares.second_of),
        "evidence": each.evidence,
        "sentence": sentence(report, each),
    }
    if branching is not None:
        document["branch"] = branches.branch_document(function, branching.block)
        document["way"] = branches.successor_document(function, branching.edge)
        document["others"] = [
            {**branches.successor_document(function, edge), "first": first, "second": second}
            for edge, first, second in branching.others
        ]
    if each.block is not None:
        document["block"] = function.facts.graph.labels[each.block]
    if each.path is not None:
        document["path"] = {"id": each.path.id, **branches.path_document(function, each.path)}
        document["more"] = [path.id for path in each.more]
    return document


def to_plain(report: DifferenceReport) -> str:
    """One row a line; the first field of each says what the row is about."""
    rows: list[Sequence[object]] = list(_HEADINGS)
    marks = [("estimate", run, each.rates) for run, each in report.marks()]
    rows += [_ESTIMATE_HEADING, *marks] if marks else []
    for basis, common in common_rows(report.found):
        shares = f"{common.static:.6f}", f"{common.dynamic:.6f}"
        instructions = common.common_instructions, f"{common.dynamic_instructions:.6f}"
        only = common.first - common.common, common.second - common.common
        counts = common.first, common.second, common.common
        rows.append(("common", basis.value, *counts, *shares, *instructions, *only))
    for rank, each in report.shown:
        shares_of = each.what.first, each.what.first_of, each.what.second, each.what.second_of
        branches = report.branches
        path = "" if each.path is None else branches.describer.describe(each.function, each.path).steps_text()
        words = location(branches, each), action(branches, each), path, len(each.more)
        rows.append(
            ("difference", rank, kind_name(each), each.name, *shares_of, f"{each.evidence:.3f}", *words)
        )
    rows += [
        ("unpaired", each.name, "A" if each.first else "B", each.reason) for each in report.found.unpaired
    ]
    rows += [("counts", name) for name in report.found.by_counts]
    rows.append(("instructions", report.instructions.value))
    rows += [("note", what) for what in report.notes]
    return tabbed(rows)
