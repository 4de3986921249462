"""Equations (7), (8), (13), (14), (17) and (18) of TZG04, iterated until nothing changes.

Each bound follows from the opposite bounds of the other members of a sum:

    U(p!q) = min(sum - the other L)        L(p!q) = max(sum - the other U, 0)

Bounds only get tighter, and a tighter one never allows a wider one elsewhere.  So there is one fixed point,
and no order of evaluation leads to another.
"""

from __future__ import annotations

from collections import deque

from trodden.recover.bounds.system import Bounds, First, Second, System, bounds_of


def fixed_point(system: System[First, Second]) -> Bounds[First, Second]:
    """The bounds of all pairs.

    The sums of the bounds of each sum are kept, so one evaluation of a sum takes a step for each of its
    members.  A sum is evaluated again only when a bound of a member has changed.
    """
    lower, upper = [0] * len(system.pairs), list(system.most)
    sums = system.sums
    of: list[list[int]] = [[] for _ in system.pairs]
    for number, known in enumerate(sums):
        for member in known.members:
            of[member].append(number)
    lowest = [0] * len(sums)
    highest = [sum(upper[member] for member in known.members) for known in sums]
    waiting = deque(range(len(sums)))
    is_waiting = [True] * len(sums)

    def tell(member: int, teller: int, less: int, more: int) -> None:
        for number in of[member]:
            lowest[number] += more
            highest[number] -= less
            if number != teller and not is_waiting[number]:
                is_waiting[number] = True
                waiting.append(number)

    while waiting:
        number = waiting.popleft()
        is_waiting[number] = False
        members, (least, most) = sums[number]
        changed = False
        for member in members:
            high = min(upper[member], most - lowest[number] + lower[member])
            low = max(lower[member], least - highest[number] + upper[member])
            if high < low:
                return bounds_of(system, lower, upper, contradictory=True)
            if high < upper[member] or low > lower[member]:
                less, more = upper[member] - high, low - lower[member]
                lower[member], upper[member] = low, high
                tell(member, number, less, more)
                changed = True
        if changed and not is_waiting[number]:
            is_waiting[number] = True
            waiting.append(number)
        if lowest[number] > most or highest[number] < least:
            return bounds_of(system, lower, upper, contradictory=True)
    return bounds_of(system, lower, upper, contradictory=False)
