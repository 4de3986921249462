"""How processes ended, for a terminal: the tree of processes, and where their threads were at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trodden.collect.rawfile.model import Ending
from trodden.report.fields import counted, percent, short
from trodden.report.narrate.paths import ARROW, PathDescription
from trodden.report.narrate.steps import cut
from trodden.report.render.pieces import steps, table
from trodden.report.views.last_lines import LineRow
from trodden.report.views.process_rows import FrameRow, LastRow, ProcessRow, ThreadRow
from trodden.report.views.program_rows import ProgramRow

_LONGEST_TEXT = 60
_MOST_STEPS = 16
_EXPECTED = (Ending.EXIT.value, Ending.EXEC.value, Ending.DUMP.value)


@dataclass(frozen=True)
class Most:
    """How much of each is shown: frames and last paths are those of one thread."""

    processes: int = 40
    threads: int = 8
    frames: int = 16
    lasts: int = 10
    programs: int = 40
    lines: int = 10


MOST = Most()


def program_table(programs: Sequence[ProgramRow], most: int = MOST.programs) -> Iterator[Table]:
    """The programs and libraries, if there are several."""
    if len(programs) < 2:
        return
    found = table("Programs", ("share", "blocks", "processes", "functions"), ("program", "path"))
    for row in programs[:most]:
        name = Text(row.name)
        if row.kind == "library":
            name.append("  library", style="dim")
        elif not row.functions:
            name.append("  without probes", style="dim")
        found.add_row(
            percent(row.share),
            f"{row.executed:,}",
            f"{row.processes:,}",
            f"{row.ran:,} of {row.functions:,}" if row.functions else "",
            name,
            Text(short(row.path)),
        )
    more = len(programs) - most
    if more > 0:
        found.add_row("", "", "", "", Text(f"… and {more:,} more"), "")
    yield found


def endings(
    processes: Sequence[ProcessRow],
    threads: Sequence[ThreadRow],
    most: Most = MOST,
) -> Iterator[Table | Text | Padding]:
    """What is printed before the tables; nothing if a single process has exited normally."""
    alone = len(processes) == 1
    if len(processes) > 1:
        yield _tree(processes, most)
    named: set[str] = set()
    shown = [row for row in threads if alone or row.ending != Ending.EXEC.value]
    for row in shown[: most.threads]:
        if row.process not in named and (alone or row.ending not in _EXPECTED):
            yield _end(row.process, row.how)
        named.add(row.process)
        yield from _thread(row, alone, most)
    if len(shown) > most.threads:
        yield Text(f"… and {counted(len(shown) - most.threads, 'more thread')}", style="dim")
    if alone and not named and processes[0].ending not in _EXPECTED:
        yield _end(processes[0].name, processes[0].how)
    for process in processes:
        if process.completed:
            yield Text(
                f"process {process.name}: counts completed in {', '.join(process.completed)}", style="yellow"
            )


def _end(process: str, how: str) -> Text:
    verb = "was " if how.startswith("killed") else "" if how.startswith("became") else "ended by "
    return Text.assemble((f"process {process} {verb}", "bold"), (how, "bold red"))


def _tree(processes: Sequence[ProcessRow], most: Most) -> Table:
    found = table("Processes", ("share", "blocks"), ("process", "program", "ended"))
    for row in processes[: most.processes]:
        found.add_row(
            "" if row.share is None else percent(row.share),
            "" if row.executed is None else f"{row.executed:,}",
            Text(f"{'  ' * (row.depth - 1)}{'└ ' if row.depth else ''}{row.name}"),
            Text(short(row.program)),
            Text(row.how, style="" if row.ending in _EXPECTED else "red"),
        )
    more = len(processes) - most.processes
    if more > 0:
        found.add_row("", "", Text(f"… and {more:,} more"), "", "")
    return found


def _thread(row: ThreadRow, alone: bool, most: Most) -> Iterator[Text | Padding]:
    name = f"thread {row.number}" + (f" ({row.tid})" if row.tid is not None else "")
    yield Text(name if alone else f"{name} of process {row.process}", style="bold")
    for frame in row.frames[: most.frames]:
        yield from _frame(frame, row.how if row.ending == Ending.SIGNAL.value else None)
    more = len(row.frames) - most.frames
    if row.left_out or more > 0:
        yield Padding(Text(f"… and {max(more, 0) + row.left_out:,} more", style="dim"), (0, 0, 0, 2))
    shown = row.last[-most.lasts :] if most.lasts else ()
    if shown:
        yield Padding(
            Text(f"the last {counted(len(shown), 'path')} that it executed:", style="dim"), (0, 0, 0, 2)
        )
        for last in shown:
            yield from _last(last)
    lines = row.lines[-most.lines :]
    if lines:
        which = "that it executed" if row.lines_to_end else "in its trace, which ends before it does"
        yield Padding(Text(f"the last {counted(len(lines), 'line')} {which}:", style="dim"), (0, 0, 0, 2))
        yield Padding(_lines(lines), (0, 0, 0, 4))


def _lines(rows: Sequence[LineRow]) -> Text:
    """The lines below each other, beside their functions."""
    places = [f"{short(row.file)}:{row.line}" for row in rows]
    wide, names = max(map(len, places)), max(len(row.function) for row in rows)
    found = []
    for place, row in zip(places, rows, strict=True):
        text = cut(row.text or "", _LONGEST_TEXT)
        times = "" if row.times == 1 else f"  ({'' if row.exact else 'at least '}{row.times:,} times)"
        found.append(
            Text.assemble(
                f"{place:{wide}}  ", (f"{row.function:{names}}", "bold"), "  ", (text, "cyan"), (times, "dim")
            )
        )
    return Text("\n").join(found)


def _frame(row: FrameRow, signal: str | None) -> Iterator[Padding]:
    where = "in a call"
    if row.interrupted:
        where = "interrupted" if signal is None else f"interrupted by {signal}"
    location = ""
    if row.line:
        lines = f"{row.line}" if row.line == row.last_line else f"{row.line}–{row.last_line}"
        location = f" at {short(row.file)}:{lines}"
    inlined = "" if row.inlined_into is None else f"  (inlined into {row.inlined_into})"
    yield Padding(
        Text.assemble((row.function, "bold"), f"  {where}{location}", (inlined, "dim")), (0, 0, 0, 2)
    )
    if row.unfinished is not None:
        yield Padding(Text(_steps(row.unfinished), style="cyan"), (0, 0, 0, 6))


def _last(row: LastRow) -> Iterator[Padding]:
    yield Padding(Text.assemble((row.function, "bold"), (f"  id {row.id}", "dim")), (0, 0, 0, 4))
    yield Padding(Text(f"{_steps(row.description)}{ARROW}{row.description.ends}", style="cyan"), (0, 0, 0, 6))


def _steps(path: PathDescription) -> str:
    return ARROW.join([path.starts, *steps(path, _LONGEST_TEXT, _MOST_STEPS)])
