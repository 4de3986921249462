"""What blocks that record themselves would have recorded, of a run that is counted by hand."""

from __future__ import annotations

from pathlib import Path

from bench.figures.straw_men import straw_men
from tests.native.building import execute, must
from trodden.profile.from_runs import collect

SOURCE = """\
int main(int given, char **words) {
    volatile int found = 0;
    for (volatile int i = 0; i < 10; i++) {
        if (i % 2)
            found += 1;
        else
            found += 2;
    }
    return found - 15;
}
"""


def test_a_loop_around_a_diamond(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(SOURCE)
    must("cc", "-O0", "--trodden-profile=trace", "--trodden-trace=witnesses", "p.c", "-o", "p", cwd=tmp_path)
    assert execute(["./p"], tmp_path, {"TRODDEN_FILE": "p.raw"}).returncode == 0
    found = straw_men(collect([tmp_path / "p.raw"]))
    # The entry, 11 tests of the loop, 10 of its condition, 10 sides, 10 joins, 10 increments, the end.
    assert found["blocks"] == 1 + 11 + 10 + 10 + 10 + 10 + 1
    # The condition, its sides, and the end of the loop.
    assert found["targets"] == 10 + 10 + 1
    # Each side of the diamond, which every turn of the loop passes, and the way out.
    assert found["witnesses"] == 5 + 5 + 1
