"""The coverage of longer paths for a terminal."""

from __future__ import annotations

from rich.text import Text

from trodden.report.fields import counted
from trodden.report.render.longer import KINDS, not_told
from trodden.report.render.pieces import Page, note, table
from trodden.report.views.longer_coverage import LongerCoverageReport, numbers

_HEADINGS = ("executed", "unknown", "never", "possible")
_LARGE = 10**12


def print_longer_coverage(report: LongerCoverageReport, page: Page, most: int | None = None) -> None:
    """Print it; ``most`` limits the number of rows."""
    page.print(Text.assemble((report.program or "profile", "bold"), ("  longer paths", "dim")))
    whole = table("Longer paths, executed or not", _HEADINGS, ("",))
    for kind, covered in report.kinds:
        whole.add_row(*map(_amount, numbers(covered)), KINDS[kind])
    page.print(whole)
    functions = table("Functions, most unknown ones first", _HEADINGS, ("function", ""))
    for key, kind, covered in report.functions[:most]:
        functions.add_row(*map(_amount, numbers(covered)), Text(key), KINDS[kind])
    if report.functions:
        page.print(functions)
    if most is not None and len(report.functions) > most:
        page.print(note(f"{counted(len(report.functions) - most, 'more row')}; --format tsv has all"))
    for text in not_told(report.not_told):
        page.print(text)


def _amount(number: int) -> str:
    """Of a number that is beyond reading only its size."""
    return f"{number:,}" if number < _LARGE else f"{number:.1e}"
