"""Path coverage for a terminal: a table of functions, and which inputs to write next."""

from __future__ import annotations

from rich.text import Text

from trodden.profile.analysis.coverage import Covered
from trodden.report.fields import counted, percent, short
from trodden.report.narrate.successors import as_path
from trodden.report.render.pieces import Page, described, note, table
from trodden.report.views.coverage import CoverageReport, sentence

_MOST_NAMES = 10


def print_coverage(report: CoverageReport, console: Page, most: int | None = None) -> None:
    """Print it; ``most`` limits the number of functions."""
    found = report.found
    head = Text(report.program or "profile", style="bold")
    parts = (_words(found.paths), "possible paths,", _words(found.edges), "edges,")
    head.append("  " + " ".join((*parts, _words(found.blocks), "blocks")), style="dim")
    console.print(head)
    shown = found.functions[:most]
    functions = table(
        "Functions, most untaken edges first", ("paths", "edges", "blocks"), ("function", "location")
    )
    for each in shown:
        functions.add_row(
            _words(each.paths),
            _words(each.edges),
            _words(each.blocks),
            Text(each.name),
            Text(short(f"{each.function.file}:{each.function.line}")),
            style=None if each.blocks.covered else "dim",
        )
    console.print(functions)
    if any(each.near for each in shown):
        console.print(Text("Inputs to write next", style="bold"))
    nearest = [(each, near) for each in shown for near in each.near]
    for each, near in sorted(nearest, key=lambda pair: (not pair[1].unseen, -pair[1].times)):
        words = sentence(report.branches, each.function, near, short=True)
        count = f"{near.times:>11,} ", "bold" if near.unseen else "dim"
        console.print(Text.assemble(count, (each.name, "bold"), f": {words}"))
        console.print(described(report.branches, each.function, as_path(near.route), 12))
    if len(found.functions) > len(shown):
        rest = len(found.functions) - len(shown)
        console.print(Text(f"{counted(rest, 'more function')}; select some with --function", style="dim"))
    for left in report.unjoined:
        where = report.files[left.profile]
        console.print(Text.assemble(("left out ", "bold yellow"), f"{left.name} of {where}: {left.reason}"))
    if found.without:
        names = ", ".join(found.without[:_MOST_NAMES]) + (" …" if len(found.without) > _MOST_NAMES else "")
        words = f"no paths were counted in {counted(len(found.without), 'function')}: {names}"
        console.print(note(words))


def _words(found: Covered) -> str:
    return f"{percent(found.share)} ({found.covered:,} of {found.total:,})"
