"""Records of frames, in raw files and in live files."""

from __future__ import annotations

import pytest

from trodden.collect.rawfile.frame_record import NO_MODULE, frame_from
from trodden.collect.rawfile.model import RawFrame


@pytest.mark.parametrize(
    ("module", "flags", "frame"),
    [
        (1, 0, RawFrame(3, 1, 0x40)),
        (1, 1, RawFrame(3, 1, 0x40, slot=9)),
        (0, 2, RawFrame(3, 0, 0x40, interrupted=True)),
        (0, 7, RawFrame(3, 0, 0x40, 9, interrupted=True, abandoned=True)),
        (NO_MODULE, 0, RawFrame(3, None, 0x40)),
    ],
)
def test_a_record_is_decoded(module: int, flags: int, frame: RawFrame) -> None:
    assert frame_from((3, module, 0x40, 9, flags, 0), modules=2) == frame


@pytest.mark.parametrize(
    ("module", "flags", "what"),
    [(2, 0, "a frame belongs to no module"), (0, 8, "a frame has unknown flags")],
)
def test_a_record_that_is_not_valid_is_refused(module: int, flags: int, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        frame_from((3, module, 0x40, 9, flags, 0), modules=2)
