"""Characters that nobody sees, or that turn text around, in what is shown."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from trodden.visible_text import one_line, visible, visible_text

PREPENDED = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Marks that Unicode classes as format characters, and that are seen."""

LAID_OUT = range(0x13430, 0x13456)
"""Controls that arrange hieroglyphs, of which each is seen."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("evil\u202ecod.exe", "evil\\u202ecod.exe"),
        ("a\u200bb\u2066c\ufeff", "a\\u200bb\\u2066c\\ufeff"),
        ("a\x1b[2Jb\x7f\x9b", "a\\x1b[2Jb\\u007f\\u009b"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("naïve 漢字 עברית ✓ 👍🏽 e\u0301 \u00a0", "naïve 漢字 עברית ✓ 👍🏽 e\u0301 \u00a0"),
    ],
)
def test_what_is_not_seen_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible_text(f"\t{text}\n") == f"\t{shown}\n"


def test_every_format_character_is_escaped_unless_it_is_seen() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            seen = character in PREPENDED or code in LAID_OUT
            assert (visible(character) == character) == seen, hex(code)


def test_formats_for_programs_keep_what_is_no_order_to_a_terminal() -> None:
    assert one_line("SF:/src/\u200c\u202e.c\n") == "SF:/src/\u200c\u202e.c\\x0a"


def test_a_json_document_stays_one_at_a_terminal() -> None:
    names = ["\u202e\x9b\x7f\x1b", "plain"]
    shown = visible_text(json.dumps(names, ensure_ascii=False, indent=2))
    assert "\u202e" not in shown
    assert json.loads(shown) == names
