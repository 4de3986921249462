"""Messages about processes: their text is all that a profile stores of them."""

from __future__ import annotations

import pytest

from trodden.collect.process_messages import process_name_in, with_process


@pytest.mark.parametrize("name", ["17", "17.2"])
@pytest.mark.parametrize("message", [" ended by SIGSEGV", ": counts were completed in f: g, h"])
def test_the_process_of_a_stored_message_is_found_again(name: str, message: str) -> None:
    assert process_name_in(with_process(name, message)) == name


@pytest.mark.parametrize(
    "message", ["a.raw: is the same as b.raw; it is counted once", "processing took 3 s"]
)
def test_other_messages_are_about_all_processes(message: str) -> None:
    assert process_name_in(message) is None
