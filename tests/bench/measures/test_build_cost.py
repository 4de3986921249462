from __future__ import annotations

import shutil
from pathlib import Path

from bench.measures.build_cost import sizes


def test_sizes_of_an_executable() -> None:
    found = sizes(Path(shutil.which("sleep") or ""))
    assert 0 < found["code"] < found["data"] < found["file"]
