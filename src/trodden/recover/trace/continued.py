"""What a frame keeps while longer paths are counted (:mod:`trodden.recover.trace.longer`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Continued:
    """What the present path of a frame continues.

    ``known``: its own path has been seen from its start on.  ``before`` is the path before, over a back
    edge; ``caller`` the function, block and prefix of the call that entered the frame; ``returned`` the
    block of a call, its callee, the path with which that returned, and the frame's own path then.

    ``entered`` is how many procedures its active call has entered, ``left`` the one that has returned, with
    its path.  ``direct``: its own call was the first that its caller's made.  ``last`` is the path with which
    it has ended.
    """

    known: bool = True
    before: int | None = None
    caller: tuple[int, int, int] | None = None
    returned: tuple[int, int, int, int] | None = None
    entered: int = 0
    left: tuple[int, int] | None = None
    direct: bool = False
    last: int | None = None
