"""Which lines of the readers were reached: what reaches new ones is worth changing further."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import trodden

_ROOT = str(Path(trodden.__file__).parent)
_TOOL = 4
_MOST_STEPS = 1000


def _watched(code: CodeType) -> bool:
    return code.co_filename.startswith(_ROOT)


class Lines:
    """Lines of trodden that ran since this was started; each costs something the first time only."""

    def __init__(self) -> None:
        self.seen: set[tuple[CodeType, int]] = set()
        self._left: dict[CodeType, set[int]] = {}
        self._steps: Counter[CodeType] = Counter()

    def start(self) -> None:
        """Watch from now on; a long loop is not watched to its end."""
        self._steps.clear()
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            if monitoring.get_tool(_TOOL) is None:
                monitoring.use_tool_id(_TOOL, "trodden-fuzz")
                monitoring.register_callback(_TOOL, monitoring.events.LINE, self._line)
            monitoring.set_events(_TOOL, monitoring.events.LINE)
        else:
            sys.settrace(self._called)

    def stop(self) -> None:
        """Watch no longer."""
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(_TOOL, 0)
        else:
            sys.settrace(None)

    def _line(self, code: CodeType, line: int) -> Any:
        if _watched(code):
            self.seen.add((code, line))
        return sys.monitoring.DISABLE  # type: ignore[attr-defined, unused-ignore]

    def _called(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            lines = {line for _, _, line in code.co_lines() if line is not None} if _watched(code) else set()
            left = self._left[code] = lines
        return self._stepped if left and self._steps[code] < _MOST_STEPS else None

    def _stepped(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        left = self._left[code]
        self._steps[code] += 1
        if event == "line" and frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self.seen.add((code, frame.f_lineno))
        return self._stepped if left and self._steps[code] < _MOST_STEPS else None
