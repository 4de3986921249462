from __future__ import annotations

from bench.cli.text import text_table


def test_columns_are_aligned() -> None:
    assert text_table(("name", "x"), [["long name", "1"], ["b", "22"]]).splitlines() == [
        "name        x",
        "---------  --",
        "long name   1",
        "b          22",
    ]
