"""Coverage for a terminal: tables of files and functions, and which inputs to write next."""

from __future__ import annotations

from rich.text import Text

from trodden.profile.analysis.coverage import Covered
from trodden.report.fields import counted, percent, short
from trodden.report.narrate.successors import as_path
from trodden.report.render.pieces import Page, described, note, table
from trodden.report.views.coverage import CoverageReport, sentence

_MOST_NAMES = 10
_NAMES = {
    "lines": "lines",
    "branches": "branches: outcomes of conditions and switches",
    "functions": "functions",
    "conditions": "conditions with both outcomes",
    "mcdc": "conditions of compound decisions that executed paths show to decide alone (MC/DC)",
    "blocks": "basic blocks",
    "edges": "edges",
    "paths": "possible paths",
}


def print_coverage(report: CoverageReport, console: Page, most: int | None = None) -> None:
    """Print it; ``most`` limits the number of functions."""
    found = report.found
    head = Text(report.program or "profile", style="bold")
    console.print(head)
    whole = table("The whole program", ("covered",), ("", ""))
    for name, covered in report.metrics.items():
        whole.add_row(percent(covered.share), f"{covered.covered:,} of {covered.total:,}", Text(_NAMES[name]))
    console.print(whole)
    files = table("Files, most missed lines first", ("lines", "branches", "functions"), ("file",))
    ranked = sorted(report.sources.files, key=lambda each: (each.lines.covered - each.lines.total, each.path))
    for file in ranked[:most]:
        functions_of = _words(file.functions)
        files.add_row(_words(file.lines), _words(file.branches), functions_of, Text(short(file.path)))
    if ranked:
        console.print(files)
    shown = found.functions[:most]
    with_paths = ("paths",) if found.paths is not None else ()
    functions = table(
        "Functions, most untaken edges first", (*with_paths, "edges", "blocks"), ("function", "location")
    )
    for each in shown:
        functions.add_row(
            *((_words(each.paths),) if with_paths else ()),
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
    for each, near in sorted(nearest, key=lambda pair: pair[1].rank):
        words = sentence(report.branches, each.function, near, short=True)
        count = f"{near.times:>11,} ", "bold" if near.never else "dim"
        console.print(Text.assemble(count, (each.name, "bold"), f": {words}"))
        console.print(described(report.branches, each.function, as_path(near.route), 12))
    if len(found.functions) > len(shown):
        rest = len(found.functions) - len(shown)
        console.print(Text(f"{counted(rest, 'more function')}; select some with --function", style="dim"))
    for left in report.unjoined:
        where = report.files[left.profile]
        console.print(Text.assemble(("left out ", "bold yellow"), f"{left.name} of {where}: {left.reason}"))
    if report.optimised is not None:
        console.print(note(report.optimised))
    for problem in report.problems:
        console.print(note(problem))
    if found.without and found.paths is not None:
        names = ", ".join(found.without[:_MOST_NAMES]) + (" …" if len(found.without) > _MOST_NAMES else "")
        words = f"no paths were counted in {counted(len(found.without), 'function')}: {names}"
        console.print(note(words))


def _words(found: Covered | None) -> str:
    if found is None or not found.total:
        return ""
    return f"{percent(found.share)} ({found.covered:,} of {found.total:,})"
