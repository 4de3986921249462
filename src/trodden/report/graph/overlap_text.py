"""The probes for overlapping paths in a few characters, as TZG04 writes them."""

from __future__ import annotations

from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    ChainPath,
    ChainPathAt,
    ClearOverlap,
    CountPredicate,
    ForgetPaths,
    OverlapProbe,
    PairOverlap,
    PairOverlapAt,
    PublishCall,
    PublishCallAt,
    PublishReturn,
    PublishReturnAt,
    StartOverlap,
    StartOverlapAt,
    TakeCall,
    TakeReturn,
)


def overlap_text(probe: OverlapProbe) -> str:
    """A probe: ``ro+=3``, ``ro+=3 if ol<=2``, ``count[ro]++ if ro`` where an overlap need not be active."""
    match probe:
        case StartOverlap(add, passed):
            return f"ro=r{signed_text(add)} ol={passed}"
        case StartOverlapAt(number, passed):
            return f"ro={number} ol={passed}"
        case CountPredicate():
            return "ol++"
        case AddOverlap(_, value, limit):
            return f"ro{'-' if value < 0 else '+'}={abs(value)}" + (
                f" if ol<={limit}" if limit is not None else ""
            )
        case BumpOverlap(_, above):
            return "count[ro]++" + (" if ro" if above == 0 else f" if ro deeper than {above}")
        case ClearOverlap():
            return "ro=none"
        case PublishCall(site, add):
            return f"call {site}: r{signed_text(add)}"
        case PublishCallAt(site, number):
            return f"call {site}: {number}"
        case TakeCall(start):
            return "pair if called" if start is None else f"ro={start} if called"
        case PublishReturn(add):
            return f"return r{signed_text(add)}"
        case PublishReturnAt(path):
            return f"return {path}"
        case TakeReturn(site, start):
            return f"{'pair' if start is None else f'ro={start}'} if {site} returned"
        case PairOverlap(_, add):
            return f"pair r{signed_text(add)}"
        case PairOverlapAt(_, path):
            return f"pair {path}"
        case ChainPath(add):
            return f"chain r{signed_text(add)}"
        case ChainPathAt(path):
            return f"chain {path}"
        case ForgetPaths():
            return "chain none"


def signed_text(value: int) -> str:
    """A number with its sign, and nothing for 0."""
    return f"{value:+}" if value else ""
