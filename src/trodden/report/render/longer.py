"""The report on longer paths: tables for people, and rows for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from trodden.profile.count_text import amount
from trodden.profile.longer.model import LongerKind, NotTold
from trodden.recover.bounds.system import Range
from trodden.report.fields import counted, percent, short, tabbed
from trodden.report.narrate.paths import ARROW
from trodden.report.narrate.steps import Step
from trodden.report.render.pieces import Page, note, table
from trodden.report.views.longer_rows import (
    SOURCE_WORDS,
    FlowRow,
    LongerReport,
    LongerRow,
    bounds_text,
)

_LONGEST_TEXT = 60
_MOST_STEPS = 12
_MOST_REASONS = 8
KINDS = {
    LongerKind.LOOP: "over back edges",
    LongerKind.CALL: "over calls",
    LongerKind.RETURN: "over returns",
}


def print_longer(report: LongerReport, page: Page) -> None:
    """Print what is known of longer paths; what is not told comes last, where it is noticed."""
    page.print(Text.assemble((report.program or "profile", "bold"), ("  longer paths", "dim")))
    if report.flows:
        page.print(_flows(report.flows))
    if report.rows:
        page.print(_paths(report.rows))
    if not report.flows:
        page.print(Text("No function has executed two iterations of a loop, or called another one."))
    for text in not_told(report.not_told):
        page.print(text)
    for text in _not_listed(report):
        page.print(text)
    for what in report.notes:
        page.print(note(what))


def _flows(rows: Sequence[FlowRow]) -> Table:
    title = "Longer paths and their counts"
    headings = ("executed", "definite", "potential", "paths", "exact")
    found = table(title, headings, ("", "counts from"))
    for row in rows:
        numbers = (row.definite, row.potential, row.paths, row.exact)
        sources = ", ".join(SOURCE_WORDS[source] for source in row.sources)
        found.add_row(
            bounds_text(Range(row.least, row.most)), *map(amount, numbers), KINDS[row.kind], sources
        )
    return found


def _paths(rows: Sequence[LongerRow]) -> Table:
    found = table("Hot longer paths by instructions executed", ("", "instructions", "count"), ("path",))
    for row in rows:
        least, most = percent(row.least_share), percent(row.most_share)
        share = most if row.path.exact or least == most else f"{least} – {most}"
        found.add_row(str(row.rank), share, bounds_text(Range(row.path.lower, row.path.upper)), _path(row))
    return found


def _path(row: LongerRow) -> Text:
    """Where it is, and its two parts."""
    text = Text.assemble((row.path.crossing.function, "bold"), (f"  {short(row.file)}  {row.place}", "dim"))
    return text.append_text(two_parts(row.first, row.second))


def two_parts(first: Sequence[Step], second: Sequence[Step]) -> Text:
    """What was executed first, and what then, on lines of their own."""
    text = Text()
    for word, steps in (("first", first), ("then", second)):
        text.append(f"\n{word:5} ", "dim")
        text.append(ARROW.join(_words(steps)) or "nothing is decided", "cyan")
    return text


def _words(steps: Sequence[Step]) -> list[str]:
    """Steps in words; of many the first and the last."""
    words = [step.words(_LONGEST_TEXT) for step in steps]
    if len(words) > _MOST_STEPS:
        half = _MOST_STEPS // 2
        words[half:-half] = [f"… {len(words) - 2 * half} more …"]
    return words


def not_told(reasons: Sequence[NotTold]) -> Iterator[Text]:
    """Of what nothing is said, or not everything, by name and with the reason."""
    for each in reasons[:_MOST_REASONS]:
        kind = "" if each.kind is None else f" ({KINDS[each.kind]})"
        yield Text.assemble(("not told ", "bold yellow"), (each.function, "bold"), f"{kind}: {each.reason}")
    if len(reasons) > _MOST_REASONS:
        more = counted(len(reasons) - _MOST_REASONS, "more function")
        yield note(f"not everything is told of {more}; --format tsv has them all")


def _not_listed(report: LongerReport) -> Iterator[Text]:
    paths, listed = (sum(getattr(row, name) for row in report.flows) for name in ("paths", "listed"))
    if listed < paths:
        yield note(
            f"{listed:,} of {paths:,} longer paths are listed at all: of each loop and call those that were"
            " certainly executed, and the others with the largest upper bounds"
        )


def longer_rows(report: LongerReport) -> str:
    """The first field of each line says what the line is about."""
    rows: list[tuple[object, ...]] = [
        (
            *("#flow", "kind", "crossings", "at least", "at most", "definite", "potential"),
            *("paths", "exact", "listed", "sources"),
        ),
        (
            *("#longer", "rank", "kind", "function", "callee", "place", "lower", "upper", "source"),
            *("instructions at least", "instructions at most", "first", "second"),
        ),
        ("#step", "rank", "part", "number", "file", "line", "text", "outcome", "inlined from"),
        ("#nottold", "kind", "function", "reason"),
        ("#note", "what"),
    ]
    rows += [_flow(row) for row in report.flows]
    for row in report.rows:
        rows += _longer(row)
    rows += [
        ("nottold", "" if each.kind is None else each.kind.value, each.function, each.reason)
        for each in report.not_told
    ]
    rows += [("note", what) for what in report.notes]
    return tabbed(rows)


def _flow(row: FlowRow) -> tuple[object, ...]:
    numbers = (row.crossings, row.least, row.most, row.definite, row.potential)
    sources = ",".join(source.value for source in row.sources)
    return "flow", row.kind.value, *numbers, row.paths, row.exact, row.listed, sources


def _longer(row: LongerRow) -> Iterator[tuple[object, ...]]:
    crossing = row.path.crossing
    shares = f"{row.least_share:.6f}", f"{row.most_share:.6f}"
    first, second = (" ".join(labels) for labels in row.blocks)
    yield (
        *("longer", row.rank, crossing.kind.value, crossing.function, crossing.callee or "", row.place),
        *(row.path.lower, row.path.upper, row.path.source.value, *shares, first, second),
    )
    for part, steps in (("first", row.first), ("second", row.second)):
        for number, step in enumerate(steps, 1):
            line = ("", "") if step.line is None else (step.file, step.line)
            text = step.location if step.line is None else step.text or ""
            yield "step", row.rank, part, number, *line, text, step.outcome_text or "", step.inlined or ""
