"""Libraries that come and go, time and again, while other threads count, jump and throw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.ledger import VARIANTS, Workshop, walk


def build_libraries(workshop: Workshop, source: str, variant: str) -> list[Path]:
    """Two, with books of their own."""
    more = ("-fPIC", "-shared")
    return [
        workshop.build(source, variant, *more, f"-DBOOK={number}", name=f"{Path(source).stem}{number}.so")
        for number in (1, 2)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("host", "library"),
    [("ledger_loader.c", "ledger_library.c"), ("ledger_thrower.cpp", "ledger_through.c")],
)
def test_two_libraries_a_thousand_times(
    workshop: Workshop, tmp_path: Path, host: str, library: str, variant: str
) -> None:
    """Two threads load, use and unload them; a third one leaves functions by longjmp, or by exceptions."""
    libraries = build_libraries(workshop, library, variant)
    program = workshop.build(host, variant)
    done = walk(program, "1000", *libraries, cwd=tmp_path, sources=(host, library, library))
    assert (done.status, done.errors) == (5, "")
    (raw,) = done.raws
    assert sorted(Path(module.path).name for module in raw.modules) == sorted(
        path.name for path in (program, *libraries)
    )
    done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_library_used_by_many_threads_at_once(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    """It is loaded and unloaded by four threads, and gone only when none of them has it."""
    library = build_libraries(workshop, "ledger_library.c", variant)[0]
    program = workshop.build("ledger_loader.c", variant)
    sources = ("ledger_loader.c", "ledger_library.c")
    done = walk(program, "150", *[library] * 4, cwd=tmp_path, sources=sources)
    assert (done.status, done.errors) == (5, "")
    done.check()
