"""Programs with randomly cloned blocks do what they did."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS
from trodden.native.clone.clone_text import add_clones, can_be_cloned
from trodden.native.driver.linking.link import link_command
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.llvm import check, disassemble
from trodden.native.ir.module import cut_module
from trodden.native.ir.symbols import type_names


def random_clones(function: IRFunction, chance: random.Random) -> tuple[list[int], list[list[int] | None]]:
    """Clones of any blocks; every successor is any of the block that it was and its clones."""
    size = len(function.blocks)
    clonable = [number for number in range(1, size) if can_be_cloned(function.blocks[number])]
    origins = [number for number in clonable for _ in range(chance.choice((0, 0, 1, 1, 2, 3)))]
    numbers = {block.label: number for number, block in enumerate(function.blocks)}
    versions = [[number] for number in range(size)]
    for index, origin in enumerate(origins):
        versions[origin].append(size + index)
    successors = [
        [chance.choice(versions[numbers[label]]) for label in function.blocks[origin].successors]
        for origin in (*range(size), *origins)
    ]
    reached, work = {0}, [0]
    while work:
        new = set(successors[work.pop()]) - reached
        reached |= new
        work += new
    return origins, [to if number in reached else None for number, to in enumerate(successors)]


@pytest.mark.parametrize("flags", [("-O1",), ("-O2",), ("-O2", "-g"), ("-O0",)], ids=" ".join)
def test_programs_with_clones_do_the_same(tmp_path: Path, flags: tuple[str, ...]) -> None:
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
    types = type_names(cut_module(text))
    printouts: list[str] = []
    for seed in range(4):
        module = cut_module(text)
        for number, definition in enumerate(module.definitions if seed else ()):
            function = cut_function(definition)
            result = add_clones(function, *random_clones(function, random.Random(f"{seed} {number}")), types)
            assert result is not None, definition
            module.definitions[number] = result.render()
            assert cut_function(module.definitions[number]) == result
        if seed:
            assert module.render().count("\n  br ") > 1.1 * text.count("\n  br ")
        (tmp_path / "clones.bc").write_bytes(check(module.render(), "clones"))
        options = ("-O1", "-Xclang", "-disable-llvm-passes", "-c", "clones.bc", "-o", "clones.o")
        must(*tools.generate(()), *options)
        must(*link_command(tools, False, ["clones.o", "-o", "clones"]))
        printouts.append(must("./clones"))
    assert printouts[0].count("\n") == 20
    assert printouts == printouts[:1] * 4
