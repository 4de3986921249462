"""The blocks in which signals interrupted functions, from where threads were when their process ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from trodden.collect.endings import signal_name
from trodden.profile.model import Profile
from trodden.program.facts import FunctionFacts

_Key = tuple[str, str, int]


class Interrupted:
    """The interrupted frames of a profile, by function and block; copies of a function are one."""

    def __init__(self, profile: Profile) -> None:
        self._found: dict[_Key, dict[int, Counter[str]]] = {}
        units = {unit.id: unit for unit in profile.units} if profile.threads else {}
        for thread in profile.threads:
            number = profile.processes[thread.process].signal
            for frame in thread.frames:
                if frame.interrupted and frame.block is not None and number:
                    blocks = self._found.setdefault(_key(units[frame.unit].functions[frame.function]), {})
                    blocks.setdefault(frame.block, Counter())[signal_name(number)] += 1

    def blocks_of(self, facts: FunctionFacts) -> Mapping[int, Counter[str]]:
        """How often each signal interrupted each block of a function."""
        return self._found.get(_key(facts), {})


def _key(facts: FunctionFacts) -> _Key:
    return facts.linkage_name, facts.fingerprint, facts.line
