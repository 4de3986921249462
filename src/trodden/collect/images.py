"""Raw files that belong to one process image.

Libraries that a program without probes has loaded, each for itself (``RTLD_LOCAL``, as Python loads its
extension modules), do not know of each other: each has an instance of the runtime that leads itself and
writes a raw file of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trodden.collect.endings import Process, StoppedThread
from trodden.collect.programs import ProgramFile
from trodden.collect.rawfile.model import Ending


@dataclass(frozen=True)
class GatheredProcess:
    """One process, with the messages that its name goes before as soon as that is known.

    ``start_ticks`` is when the kernel made it (0: not known), ``files`` what it executed and loaded.
    """

    process: Process
    messages: tuple[str, ...]
    threads: tuple[StoppedThread, ...]
    start_ticks: int
    files: tuple[ProgramFile, ...]

    @property
    def libraries(self) -> frozenset[str]:
        """The paths of its libraries."""
        return frozenset(file.path for file in self.files if file.library)


def join_images(added: Sequence[GatheredProcess]) -> list[GatheredProcess]:
    """One entry for each process image; ``added`` are in the order of their starts.

    Raw files of one image have libraries, but none in common, which distinguishes them from the images of a
    process that executed its own program again.  A signal, or the end, may be seen by one instance only.
    """
    found: list[GatheredProcess] = []
    places: dict[tuple[int, int, str], int] = {}
    for each in added:
        key = each.process.pid, each.start_ticks, each.process.program
        place = places.get(key) if each.start_ticks and each.libraries else None
        if place is not None and _same_image(found[place], each):
            found[place] = _joined(found[place], each)
        else:
            places[key] = len(found)
            found.append(each)
    return found


def _same_image(one: GatheredProcess, other: GatheredProcess) -> bool:
    endings = {one.process.ending, other.process.ending} - {Ending.KILLED}
    return len(endings) < 2 and bool(one.libraries) and one.libraries.isdisjoint(other.libraries)


def _joined(one: GatheredProcess, other: GatheredProcess) -> GatheredProcess:
    first = 1 + max((thread.number for thread in one.threads), default=-1)
    seen = other.process if one.process.ending is Ending.KILLED else one.process
    return GatheredProcess(
        replace(
            one.process,
            ending=seen.ending,
            signal=seen.signal,
            unit_counts=one.process.unit_counts + other.process.unit_counts,
            completed=one.process.completed + other.process.completed,
        ),
        tuple(dict.fromkeys(one.messages + other.messages)),
        (*one.threads, *(replace(thread, number=first + thread.number) for thread in other.threads)),
        one.start_ticks,
        (*one.files, *(file for file in other.files if file.library)),
    )
