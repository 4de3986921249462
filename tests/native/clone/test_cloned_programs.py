"""Programs made of copies of blocks do what they did."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS
from tests.native.clone.test_clone_text import printed
from trodden.native.clone.clone_text import can_be_cloned, with_clones
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.llvm import check, disassemble
from trodden.native.ir.module import cut_module


def anyhow(function: IRFunction, chance: random.Random) -> tuple[list[int], list[list[int] | None]]:
    """Copies of any blocks, and every target any of the block where it went and its copies."""
    size = len(function.blocks)
    fit = [number for number in range(1, size) if can_be_cloned(function.blocks[number])]
    origins = [number for number in fit for _ in range(chance.choice((0, 0, 1, 1, 2, 3)))]
    numbers = {block.label: number for number, block in enumerate(function.blocks)}
    versions = [[number] for number in range(size)]
    for place, origin in enumerate(origins):
        versions[origin].append(size + place)
    leads = [
        [chance.choice(versions[numbers[label]]) for label in function.blocks[origin].successors]
        for origin in (*range(size), *origins)
    ]
    reached, work = {0}, [0]
    while work:
        new = set(leads[work.pop()]) - reached
        reached |= new
        work += new
    return origins, [to if number in reached else None for number, to in enumerate(leads)]


@pytest.mark.parametrize("flags", [("-O1",), ("-O2",), ("-O2", "-g"), ("-O0",)], ids=" ".join)
def test_programs_made_of_copies_do_the_same(tmp_path: Path, flags: tuple[str, ...]) -> None:
    tools = find_toolchain(None)

    def must(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=tools.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    source = str(PROGRAMS / "cloned_blocks.c")
    must(*tools.compile(False, flags), *flags, "-emit-llvm", "-c", source, "-o", "plain.bc")
    text = disassemble((tmp_path / "plain.bc").read_bytes(), "plain.bc")
    types = re.findall(r"^(%[\w.]+) = type", text, re.MULTILINE)
    printouts: list[str] = []
    for seed in range(4):
        module = cut_module(text)
        for number, definition in enumerate(module.definitions if seed else ()):
            function = cut_function(definition)
            answer = with_clones(function, *anyhow(function, random.Random(f"{seed} {number}")), types)
            assert answer is not None, definition
            module.definitions[number] = printed(answer)
            assert cut_function(module.definitions[number]) == answer
        if seed:
            assert module.render().count("\n  br ") > 1.1 * text.count("\n  br ")
        (tmp_path / "copies.bc").write_bytes(check(module.render(), "copies"))
        options = ("-O1", "-Xclang", "-disable-llvm-passes", "-c", "copies.bc", "-o", "copies.o")
        must(*tools.generate(()), *options)
        must(*tools.link(False), "copies.o", "-o", "copies")
        printouts.append(must("./copies"))
    assert printouts[0].count("\n") == 20
    assert printouts == printouts[:1] * 4
