"""What a trace says has happened, in the order in which it happened."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """The kinds of events."""

    BLOCK = 0
    ENTER = 1
    LEAVE = 2
    UNWOUND = 3
    LANDED = 4
    RESUMED = 5
    SIGNAL = 6
    HANDLED = 7
    SWITCH = 8
    ACTIVE = 9
    FORKED = 10
    EXEC_FAILED = 11
    TIME = 12
    STOPPED = 13
    LOST = 14
    DAMAGED = 15
    AGAIN = 16
    SUSPENDED = 17
    INTERRUPTED = 18


class Event(NamedTuple):
    """One event of a thread.

    ``position`` is how many blocks the thread has executed before.  ``depth`` is the number of active frames
    below the one that it belongs to, ``function`` the number of the function in the process, ``block`` a
    vertex of its graph; what has none of these has ``NONE``.  ``value``:

    * BLOCK: how often the block was executed again at once (the trips of a self loop);
    * SIGNAL: the number of the signal whose handler is called, HANDLED: 0;
    * FORKED: the child's pid, TIME: nanoseconds, STOPPED: why the trace ends here, LOST: 0;
    * DAMAGED: a :class:`Damage` and, in the bits above ``DAMAGE_BITS``, where in the piece of the trace.

    UNWOUND names the block whose call was left by an exception or a jump, LANDED and RESUMED the block where
    control went on; before a call returns once more, AGAIN names the block whose call was left.  After a
    SWITCH other frames are active: each of the former is named by a SUSPENDED event before it, each of the
    new ones by an ACTIVE event, outermost first, with the block whose call it waits in.  ``value`` of these
    four is the path number so far, where paths are counted.

    INTERRUPTED is the last event of a thread whose innermost frame was at any instruction of the block that
    it executed last: not all lines of that block may have been reached.
    """

    kind: int
    depth: int
    function: int
    block: int
    value: int
    position: int


NONE = 0xFFFFFFFF
DAMAGE_BITS = 8


class Damage(IntEnum):
    """Why a record cannot be understood where it is."""

    NOT_A_RECORD = 1
    CUT_OFF = 2
    NO_FRAME = 3
    NO_FUNCTION = 4
    NO_REGION = 5
    TRIP_COUNTS = 6
    NEVER_RETURNS = 7
    FRAME_NOT_LEFT = 8
    NO_LANDING = 9
    NOT_RESUMED = 10
    ENDLESS = 11
    TOO_DEEP = 12
    OTHER_ENCODING = 13


DAMAGES = {
    Damage.NOT_A_RECORD: "there is no such record",
    Damage.CUT_OFF: "the record is cut off",
    Damage.NO_FRAME: "no function is active that could have written the record",
    Damage.NO_FUNCTION: "a function is entered that does not exist",
    Damage.NO_REGION: "the active function has no such path",
    Damage.TRIP_COUNTS: "the trip counts do not belong to the path",
    Damage.NEVER_RETURNS: "a call has returned that never returns",
    Damage.FRAME_NOT_LEFT: "a frame is left that is not active",
    Damage.NO_LANDING: "control is at a landing pad that does not belong to the active call",
    Damage.NOT_RESUMED: "a call returns again that is not in the active function",
    Damage.ENDLESS: "nothing would be written for ever",
    Damage.TOO_DEEP: "too many frames are active",
    Damage.OTHER_ENCODING: "the record belongs to another encoding",
}


def damage_of(event: Event) -> tuple[int, str]:
    """Where in its piece of the trace a DAMAGED event is, and what is wrong there."""
    return event.value >> DAMAGE_BITS, DAMAGES[Damage(event.value & ((1 << DAMAGE_BITS) - 1))]
