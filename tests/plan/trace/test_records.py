"""Single records: what is written reads back, and nothing else is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trodden.plan.trace.records import (
    BITS,
    LARGEST_NUMBER,
    MOST_BITS,
    SHORT_ENTRIES,
    BadRecord,
    Bits,
    CodeAddress,
    CutOff,
    Enter,
    Event,
    EventKind,
    Land,
    Left,
    Record,
    Resume,
    Symbol,
    Sync,
    Trips,
    decode,
    decode_all,
    encode,
)

NUMBERS = st.one_of(st.integers(0, 300), st.integers(0, LARGEST_NUMBER))
WORDS = st.integers(0, 2**64 - 1)
ADDRESSES = st.builds(CodeAddress, st.integers(0, 2**32 - 1), WORDS)


@st.composite
def some_bits(draw: st.DrawFn) -> Bits:
    count = draw(st.integers(0, MOST_BITS))
    return Bits(draw(st.integers(0, (1 << count) - 1)), count)


RECORDS: st.SearchStrategy[Record] = st.one_of(
    st.builds(Symbol, NUMBERS),
    st.builds(Trips, st.one_of(st.integers(0, 300), WORDS)),
    st.builds(Enter, NUMBERS),
    st.builds(Resume, NUMBERS),
    st.builds(Land, NUMBERS),
    st.builds(Left, ADDRESSES),
    st.builds(Sync, st.lists(ADDRESSES, max_size=3).map(tuple), st.booleans(), WORDS, WORDS),
    some_bits(),
    st.builds(Event, st.sampled_from(EventKind), WORDS),
)


@pytest.mark.parametrize(
    ("record", "data"),
    [
        (Symbol(0), "01"),
        (Symbol(223), "e0"),
        (Symbol(224), "e1 e1 01 01"),
        (Symbol(255), "e1 01 02 01"),
        (Symbol(LARGEST_NUMBER), "e1 ff ff ff"),
        (Trips(0), "e2 01"),
        (Trips(253), "e2 fe"),
        (Trips(254), "e3 fe 00 00 00 00 00 00 00"),
        (Enter(0), "f3 01"),
        (Enter(255), "f4 01"),
        (Enter(SHORT_ENTRIES - 1), "ff ff"),
        (Enter(SHORT_ENTRIES), "e4 01 0e 01"),
        (Resume(255 * 255), "e5 01 01 02"),
        (Left(CodeAddress(3, 0x1234)), "e6 03 00 00 00 34 12 00 00 00 00 00 00"),
        (Sync((), True), "e7 00 00 00 80" + " 00" * 16),
        (
            Sync((CodeAddress(0, 7),), False, 5, 6),
            "e7 01 00 00 00 05 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00"
            " 00 00 00 00 07 00 00 00 00 00 00 00",
        ),
        (Bits(0, 0), "e9 01"),
        (Bits(0b101, 3), "e9 0d"),
        (Bits(0, 8), "ea 00 01"),
        (Bits(2**63 - 1, 63), "f0 ff ff ff ff ff ff ff ff"),
        (Event(EventKind.LOST), "f1 05 00 00 00 00 00 00 00 00"),
        (Land(2), "f2 03 01 01"),
    ],
)
def test_the_bytes_of_records(record: Record, data: str) -> None:
    assert encode(record) == bytes.fromhex(data)
    assert decode(bytes.fromhex(data), 0) == (record, len(bytes.fromhex(data)))


@given(st.lists(RECORDS, max_size=8), st.binary(max_size=3))
def test_what_is_written_reads_back(records: list[Record], behind: bytes) -> None:
    data = b"".join(map(encode, records))
    assert [record for _, record in decode_all(data)] == records
    assert [record for _, record in decode_all(data + b"\0" + behind)] == records


@given(RECORDS, RECORDS, st.data())
def test_a_record_that_is_cut_off(before: Record, record: Record, data: st.DataObject) -> None:
    first, written = encode(before), encode(record)
    kept = data.draw(st.integers(1, len(written)))
    found = decode_all(first + written[:kept])
    assert next(found) == (0, before)
    if kept < len(written):
        with pytest.raises(CutOff) as raised:
            next(found)
        assert raised.value.position == len(first)


@given(st.binary(min_size=1, max_size=40))
def test_any_bytes_are_records_or_an_error_with_its_position(data: bytes) -> None:
    known = 0
    error = None
    try:
        for position, record in decode_all(data):
            assert decode(encode(record), 0)[0] == record
            known = position
    except BadRecord as raised:
        error = raised
    assert error is None or known <= error.position < len(data)


@pytest.mark.parametrize(
    "data",
    [
        "00",
        "e8",
        "f3 00",
        "ff 00",
        "e2 00",
        "e2 ff",
        "e4 01 00 01",
        f"{BITS + 2:02x} 00 00",
        "f1 06" + "00" * 8,
    ],
)
def test_what_no_record_is(data: str) -> None:
    with pytest.raises(BadRecord) as raised:
        decode(b"\1" + bytes.fromhex(data), 1)
    assert raised.value.position == 1
    assert not isinstance(raised.value, CutOff)


@pytest.mark.parametrize(
    "record",
    [Symbol(-1), Symbol(LARGEST_NUMBER + 1), Bits(2, 1), Bits(0, 64), Enter(-1)],
)
def test_what_cannot_be_written(record: Record) -> None:
    with pytest.raises(ValueError, match=r"too (large|many)"):
        encode(record)
