from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.two_parts import write_two_parts


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A directory with a program in two parts."""
    write_two_parts(tmp_path)
    return tmp_path
