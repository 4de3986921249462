"""From any instruction to the block and the path: single steps through instrumented functions."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.native.building import PROGRAMS, must
from tests.native.stepping import build, step_through, steps_of
from trodden.collect.binary.program import Program, read_program
from trodden.collect.frames.frame_locator import FrameLocator

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="steps with the trap flag of x86-64")
ONE_IN = 3
"""Frames are located at every instruction; counts are recovered and checked at one in so many."""

PLANS = {
    "edges": (),
    "checked": ("--trodden-counters=checked",),
    "every block": ("--trodden-counters=every-block",),
    "blocks by blocks": ("--trodden-counters=blocks-by-blocks",),
    "paths": ("--trodden-profile=paths",),
    "checked paths": ("--trodden-profile=paths", "--trodden-counters=checked"),
    "cut paths": ("--trodden-profile=paths", "--trodden-max-paths=3"),
    "paths in context": ("--trodden-profile=paths", "--trodden-context=on"),
    "overlapping paths": ("--trodden-profile=paths", "--trodden-overlap=2"),
    "checked overlapping paths": (
        "--trodden-profile=paths",
        "--trodden-overlap=max",
        "--trodden-counters=checked",
    ),
    "pairs of paths": ("--trodden-profile=paths", "--trodden-pairs=on"),
}
UNLOCATED = {"overlapping paths": 0.11, "checked overlapping paths": 0.14, "pairs of paths": 0.11}
"""How many frames may be missing: LLVM keeps no value that nothing reads any more."""


@pytest.mark.parametrize("plan", PLANS)
def test_every_step_of_an_optimised_program(tmp_path: Path, plan: str) -> None:
    """No location is wrong, and few are missing: those whose path register LLVM has not kept."""
    stepped = step_through(build(tmp_path, "-O2", *PLANS[plan]), tmp_path, ONE_IN)
    assert stepped.wrong == []
    assert stepped.located > 1500
    most = UNLOCATED.get(plan, 0.07 if "paths" in plan else 0.01)
    assert stepped.unlocated < most * stepped.located


@pytest.mark.parametrize("plan", ["edges", "checked", "paths", "overlapping paths", "pairs of paths"])
def test_every_step_of_an_unoptimised_program(tmp_path: Path, plan: str) -> None:
    stepped = step_through(build(tmp_path, "-O0", *PLANS[plan]), tmp_path, ONE_IN)
    assert stepped.wrong == []
    assert stepped.located > 3500
    assert stepped.unlocated < (0.01 if plan in UNLOCATED else 0.001) * stepped.located


@pytest.mark.parametrize(
    "flags",
    [("-g",), ("-g", "-gdwarf-4"), ("-g1",), ("-g", "-gz=zlib"), ("-Os",), ("-O3",), ("-fPIE", "-pie")],
    ids=" ".join,
)
def test_every_step_of_other_builds(tmp_path: Path, flags: tuple[str, ...]) -> None:
    stepped = step_through(build(tmp_path, "-O2", *PLANS["checked"], *flags), tmp_path, ONE_IN)
    assert stepped.wrong == []
    assert stepped.unlocated < 0.01 * stepped.located


@pytest.mark.parametrize("level", ["-O1", "-Os", "-O3"])
def test_every_step_of_a_program_with_paths(tmp_path: Path, level: str) -> None:
    stepped = step_through(build(tmp_path, level, *PLANS["paths"]), tmp_path, ONE_IN)
    assert stepped.wrong == []
    assert stepped.unlocated < 0.07 * stepped.located


def located(program: Path, directory: Path) -> int:
    """At how many of the first 300 instructions the frame is located."""
    locator = FrameLocator(read_program(program))
    bias, _, steps = steps_of(program, directory)
    found = 0
    for _, step in zip(range(300), steps, strict=False):
        state = locator.at(step.registers[16] - bias, dict(enumerate(step.registers)), step.memory)
        found += state is not None
    return found


def test_without_debug_information_no_frame_is_located(tmp_path: Path) -> None:
    program = build(tmp_path, "-O2", "--trodden-debug-locations=off")
    assert located(program, tmp_path) == 0


def test_in_a_stripped_program_no_frame_is_located(tmp_path: Path) -> None:
    strip = shutil.which("strip")
    assert strip is not None
    program = build(tmp_path, "-O2")
    assert located(program, tmp_path) > 200
    subprocess.run([strip, "--strip-debug", str(program)], check=True)
    assert located(program, tmp_path) == 0


def test_damaged_debug_information_raises_nothing(tmp_path: Path) -> None:
    program = build(tmp_path, "-O2", *PLANS["paths"])
    whole = read_program(program)
    bias, _, steps = steps_of(program, tmp_path)
    kept = [step for _, step in zip(range(40), steps, strict=False)]
    data = bytearray(program.read_bytes())
    start = data.index(b"__trodden_at.")
    damaged = tmp_path / "damaged"
    located = []
    for offset in range(0, 4000, 97):
        changed = bytearray(data)
        changed[(start + 13 * offset) % len(changed)] ^= 0x5A
        changed[start - offset] ^= 0xFF
        damaged.write_bytes(changed)
        locator = FrameLocator(
            Program(str(damaged), whole.units, whole.site_data, whole.code, whole.functions)
        )
        states = [
            locator.at(step.registers[16] - bias, dict(enumerate(step.registers)), step.memory)
            for step in kept
        ]
        located.append(sum(state is not None for state in states))
    assert min(located) < max(located)


@pytest.mark.parametrize("profile", ["edges", "paths"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("name", ["stepped.c", "calculator.c", "exact_flow.c"])
def test_location_variables_add_no_instruction(tmp_path: Path, name: str, level: str, profile: str) -> None:
    texts = []
    for switch in ("on", "off"):
        words = (f"--trodden-debug-locations={switch}", f"--trodden-profile={profile}", level, "-w", "-c")
        made = tmp_path / f"{switch}.o"
        must("cc", *words, PROGRAMS / name, "-o", made, cwd=tmp_path)
        texts.append(section_of(made, ".text"))
    assert len(texts[0]) > 300
    assert texts[0] == texts[1]


def section_of(path: Path, name: str) -> bytes:
    """The content of a section, as it is before linking."""
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(name)
        assert section is not None
        return bytes(section.data())
