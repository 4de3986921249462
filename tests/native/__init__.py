"""Tests of real programs; what their helpers assert is told as well as what they assert themselves."""

import pytest

pytest.register_assert_rewrite(
    "tests.native.building", "tests.native.handwritten", "tests.native.mapped_counts"
)
