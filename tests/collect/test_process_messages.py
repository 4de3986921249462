"""Messages about processes: their text is all that a profile stores of them."""

from __future__ import annotations

import pytest

from trodden.collect.endings import MOST_THREADS
from trodden.collect.process_messages import Shortcomings, process_messages, process_name_in, with_process
from trodden.collect.rawfile.model import Ending, Raw

EXITED = Raw("x.raw", Ending.EXIT, 0, 9, 1, 0, (), (), ())


@pytest.mark.parametrize("name", ["17", "17.2"])
@pytest.mark.parametrize("message", [" ended by SIGSEGV", ": counts were completed in f: g, h"])
def test_the_process_of_a_stored_message_is_found_again(name: str, message: str) -> None:
    assert process_name_in(with_process(name, message)) == name


@pytest.mark.parametrize(
    "message", ["a.raw: is the same as b.raw; it is counted once", "processing took 3 s"]
)
def test_other_messages_are_about_all_processes(message: str) -> None:
    assert process_name_in(message) is None


@pytest.mark.parametrize(
    ("shortcomings", "messages"),
    [
        (Shortcomings(threads=MOST_THREADS), []),
        (
            Shortcomings(threads=1000 + MOST_THREADS),
            [": frames and last paths are kept of 64 of its 1,064 threads; counts are those of all"],
        ),
        (
            Shortcomings(unreachable=["s of f", "t of g"]),
            [
                ": the counts contradict each other: loops were iterated that no execution can have reached,"
                " in block s of f, t of g; the file may be damaged, run the program again"
            ],
        ),
        (
            Shortcomings(unlocated=3),
            [": 3 active calls fit no call site; counts may be off by as many"],
        ),
    ],
    ids=["all threads", "more threads", "unreachable", "unlocated"],
)
def test_what_the_counts_lack_is_said(shortcomings: Shortcomings, messages: list[str]) -> None:
    assert list(process_messages(EXITED, [], shortcomings)) == messages
