from __future__ import annotations

import pytest

from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    ChainPath,
    ChainPathAt,
    Channel,
    ClearOverlap,
    CountPredicate,
    ForgetPaths,
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
from trodden.plan.probes import Probe
from trodden.report.graph.drawing import probe_text

LOOP = Channel.LOOP
TEXTS: list[tuple[Probe, str]] = [
    (StartOverlap(-2, 0, 1), "ro=r-2 ol=0"),
    (StartOverlapAt(5, -1, 2), "ro=5 ol=-1"),
    (CountPredicate(LOOP), "ol++"),
    (AddOverlap(LOOP, -3), "ro-=3"),
    (AddOverlap(LOOP, 3, 2), "ro+=3 if ol<=2"),
    (BumpOverlap(LOOP), "count[ro]++ if ro"),
    (BumpOverlap(LOOP, 1), "count[ro]++ if ro deeper than 1"),
    (ClearOverlap(LOOP), "ro=none"),
    (PublishCall(3, 2), "call 3: r+2"),
    (PublishCallAt(3, 2), "call 3: 2"),
    (TakeCall(4), "ro=4 if called"),
    (TakeCall(None), "pair if called"),
    (PublishReturn(0), "return r"),
    (PublishReturnAt(7), "return 7"),
    (TakeReturn(3, 4), "ro=4 if 3 returned"),
    (TakeReturn(3, None), "pair if 3 returned"),
    (PairOverlap(LOOP, 1), "pair r+1"),
    (PairOverlapAt(LOOP, 1), "pair 1"),
    (ChainPath(1, 2), "chain r+1"),
    (ChainPathAt(1, 2), "chain 1"),
    (ForgetPaths(), "chain none"),
]


@pytest.mark.parametrize(("probe", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_texts(probe: Probe, text: str) -> None:
    assert probe_text(probe) == text
