"""What reading a trace takes."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from bench.figures.trace_reading import trace_reading
from bench.support.errors import BenchError
from tests.native.building import PROGRAMS, execute, must
from trodden.profile.from_runs import collect
from trodden.profile.store.trod import save


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traced")
    must("cc", "-O1", "--trodden-profile=trace", PROGRAMS / "flight.c", "-o", "flight", cwd=folder)
    done = execute(["./flight", "100000"], folder, {"TRODDEN_FILE": "flight.raw"})
    assert done.returncode == -signal.SIGSEGV
    save(collect([folder / "flight.raw"]), folder / "flight.trod")
    return folder / "flight.trod"


def test_every_block_is_regenerated(traced: Path) -> None:
    found = trace_reading(traced, "flight")
    assert found["blocks"] > 100_000
    assert found["blocks a second"] > 0
    assert found["bytes"] == traced.stat().st_size
    assert found["peak"] > 1 << 20
    assert found["middle"] > 0


def test_what_is_no_trace_is_named(tmp_path: Path) -> None:
    (tmp_path / "no.trod").write_bytes(b"no")
    with pytest.raises(BenchError, match="of no program: its trace cannot be read"):
        trace_reading(tmp_path / "no.trod", "of no program")
