"""What has to be said of a process beside its counts; the name of the process goes before each message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from trodden.collect.endings import MOST_THREADS, signal_name
from trodden.collect.rawfile.model import Ending, Raw
from trodden.plan.probes import AddTripCount
from trodden.program.facts import FunctionFacts

NO_SPACE = (
    "its file had no space for all counts while it ran (a full disk, or a limit on its size);"
    " none is lost, but a kill would have lost some"
)
"""Of a process that has ended by itself."""
_MOST_NAMED = 8
_MOST_APART = 3
_PROCESS = "process "


@dataclass(frozen=True)
class Shortcomings:
    """What the counts of a process lack.

    ``completed`` are the names of functions whose counts were completed, ``unreachable`` those of blocks
    whose self loop was iterated although no execution can have reached them.  ``unlocated`` is the number of
    frames whose call site was not found, ``threads`` that of threads, of which ``MOST_THREADS`` are kept.
    """

    completed: Sequence[str] = ()
    unreachable: Sequence[str] = ()
    unlocated: int = 0
    threads: int = 0


def process_messages(
    raw: Raw, functions: Sequence[FunctionFacts], shortcomings: Shortcomings
) -> Iterator[str]:
    """The messages of a process; ``functions`` are those of the units in which it has counted."""
    ending = raw.ending
    if ending is Ending.SIGNAL:
        yield f" ended by {signal_name(raw.signal)}"
    elif ending is Ending.KILLED and raw.host is not None:
        yield (
            f": {raw.host} has no probes, and its libraries have not seen how it ended (_exit, or killed):"
            " their functions active then are not known, counts may be off by one for each of them;"
            " trodden run --preload sees it"
        )
    elif ending is Ending.KILLED:
        yield (
            " was killed (or ended unseen): functions active then are not known,"
            " counts may be off by one for each of them"
        )
    elif ending is Ending.DUMP:
        yield ": the program did not end by itself; counts are those until then"
    if shortcomings.completed:
        yield f": counts were completed in {_listed(shortcomings.completed)}"
    if shortcomings.unreachable:
        yield (
            ": the counts contradict each other: loops were iterated that no execution can have reached, in"
            f" block {_listed(shortcomings.unreachable)}; the file may be damaged, run the program again"
        )
    late = (
        [each.name for each in functions if _adds_trip_counts_late(each)] if ending is Ending.KILLED else []
    )
    if late:
        yield (
            f": if it was in a loop without calls of {_listed(late)}, the iterations of that loop since it"
            " was entered are missing; build with --durable to have them"
        )
    if raw.counts_lost:
        yield f": {raw.path} was truncated while it ran: some of what it had counted until then is lost"
    elif raw.counts_missing:
        full = ", which had no space for them" if raw.no_space else ""
        yield (
            f": not all of its counts were in the file{full}; those of some threads or libraries are missing"
        )
    elif raw.no_space:
        yield f": {NO_SPACE}"
    if raw.frames_missing:
        yield ": not all active calls were found; counts may be off by as many"
    if shortcomings.unlocated:
        yield f": {shortcomings.unlocated} active calls fit no call site; counts may be off by as many"
    if shortcomings.threads > MOST_THREADS:
        yield (
            f": frames and last paths are kept of {MOST_THREADS} of its {shortcomings.threads:,} threads;"
            " counts are those of all"
        )


def messages_of_all(messages: Iterable[tuple[str, str]]) -> list[str]:
    """The messages of processes, given with their names: what many have in common is said once."""
    names: dict[str, list[str]] = {}
    for name, message in messages:
        names.setdefault(message, []).append(name)
    found: list[str] = []
    for message, own in names.items():
        if len(own) > _MOST_APART:
            found.append(f"each of {len(own):,} processes ({_listed(own)}){message}")
        else:
            found += [with_process(name, message) for name in own]
    return found


def with_process(name: str, message: str) -> str:
    """A message as a profile stores it: after the name of its process."""
    return f"{_PROCESS}{name}{message}"


def process_name_in(message: str) -> str | None:
    """The name of the process that a stored message is about, ``None`` if it is about all of them.

    Profiles store messages as text alone, so that this is the one way to learn it: the inverse of
    :func:`with_process`.  A name has neither spaces nor colons; a message continues with one of these.
    """
    if not message.startswith(_PROCESS):
        return None
    return message.removeprefix(_PROCESS).partition(" ")[0].removesuffix(":")


def _adds_trip_counts_late(function: FunctionFacts) -> bool:
    """Whether a function counts the iterations of some loop only when it leaves the loop (BL94 §6.3)."""
    return any(isinstance(probe, AddTripCount) for probe in chain(*function.plan.on_edges.values()))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
