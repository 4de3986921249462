"""Clones of hot blocks: chosen where they pay, with the same profile as without them."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must, trodden
from trodden.native.analysis.function_cfg import read_function
from trodden.native.clone.choose_clones import GROWTH, LEAST
from trodden.native.clone.clone_blocks import ClonedFunction, clone_hot_blocks
from trodden.native.ir.attributes import read_attributes
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.native.options.declarations import Options
from trodden.native.planning.plan_function import plan_for
from trodden.plan.paths.path_register import track
from trodden.plan.routes import PathEnd
from trodden.profile.model import Profile
from trodden.profile.store.trod import load
from trodden.weigh.features.block_features import FunctionFeatures

LOOP = """\
define i32 @iterate(ptr %a, i32 %n) {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %out

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %sum = phi i32 [ 0, %entry ], [ %more, %latch ]
  %at = getelementptr i32, ptr %a, i32 %i
  %value = load i32, ptr %at, align 4
  %odd = trunc i32 %value to i1
  br i1 %odd, label %add, label %double

add:
  %added = add i32 %sum, %value
  br label %latch

double:
  %doubled = shl i32 %sum, 1
  br label %latch

latch:
  %more = phi i32 [ %added, %add ], [ %doubled, %double ]
  %next = add nuw nsw i32 %i, 1
  %going = icmp slt i32 %next, %n
  br i1 %going, label %loop, label %out

out:
  %result = phi i32 [ 0, %entry ], [ %more, %latch ]
  ret i32 %result
}
"""
BUSY = """\
#include <stdio.h>
#include <stdlib.h>
static int last;
__attribute__((noinline)) static void check(int n) {
    if (n == 977)
        exit(last % 100);
    last = n;
}
__attribute__((noinline)) static int walk(const int *values, int size, int bound) {
    int sum = 0;
    for (int i = 0; i < size; i++) {
        if (values[i] > bound)
            sum += values[i];
        else if (values[i] % 3)
            check(values[i]);
        else
            sum ^= i;
        if (sum > 1000)
            sum = 0;
    }
    return sum;
}
int main(int argc, char **argv) {
    int values[500], size = 500;
    for (int i = 0; i < size; i++)
        values[i] = (i * 37) % 700;
    if (argc > 1)
        values[atoi(argv[1])] = 977;
    int sum = 0;
    for (int round = 0; round < 50; round++)
        sum += walk(values, size, argc > 1 && round == 40 ? 2000 : round * 10);
    printf("%d\\n", sum);
    return 0;
}
"""


def with_hot_clones(definition: str, weights: Sequence[float] | None = None) -> ClonedFunction:
    module = cut_module(definition)
    attributes = read_attributes(module)
    read = read_function(cut_function(module.definitions[0]), attributes)
    measured = (lambda graph, symbol: list(weights)) if weights is not None else None
    options = Options(profile="paths", measured=measured)
    planned = plan_for(read, options, "x86_64", 0, FunctionFeatures())
    return clone_hot_blocks(read, planned, attributes, ())


def counted(profile: Profile) -> dict[str, object]:
    """What the profile has of each function: edges, paths and violations."""
    return {
        name: (
            [edge.count for edge in function.edges],
            sorted((path.id, path.count, path.starts, path.ends) for path in function.paths or ()),
            function.violations,
        )
        for name, function in profile.functions.items()
    }


def test_a_loop_iterates_in_clones_where_the_register_is_known() -> None:
    found = with_hot_clones(LOOP)
    register = track(found.read.graph, found.planned.plan)
    assert {1, 4} <= {block for block, _ in found.clones}
    for clone, (_, value) in enumerate(found.clones, 6):
        assert register.at[clone] == (None, value)


def test_what_never_ran_is_not_cloned() -> None:
    assert with_hot_clones(LOOP, [0.0] * 10).clones == ()


def test_a_function_does_not_grow_by_more_than_its_share() -> None:
    arms = "".join(
        f"b{n}:\n  %v{n} = load volatile i32, ptr %a, align 4\n  %c{n} = trunc i32 %v{n} to i1\n"
        f"  br i1 %c{n}, label %x{n}, label %y{n}\n\nx{n}:\n  store volatile i32 {n}, ptr %a, align 4\n"
        f"  br label %b{n + 1}\n\ny{n}:\n  store volatile i32 -{n}, ptr %a, align 4\n  br label %b{n + 1}\n\n"
        for n in range(1, 60)
    )
    text = f"define void @long(ptr %a) {{\nb0:\n  br label %b1\n\n{arms}b60:\n  ret void\n}}\n"
    found = with_hot_clones(text)
    own = cut_function(cut_module(text).definitions[0])
    size = sum(block.size for block in own.blocks)
    more = sum(own.blocks[block].size for block, _ in found.clones)
    assert 0 < more <= max(LEAST, GROWTH * size)


ONCE = """\
declare void @once(i32) #0

declare i32 @person(...)

define void @iterate(i32 %n) personality ptr @person {
entry:
  %some = trunc i32 %n to i1
  br i1 %some, label %left, label %loop

left:
  call void @once(i32 7)
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ 1, %left ], [ %next, %latch ]
  invoke void @once(i32 %i)
          to label %latch unwind label %pad

latch:
  %next = add nuw nsw i32 %i, 1
  %going = icmp slt i32 %next, %n
  br i1 %going, label %loop, label %out

pad:
  %caught = landingpad { ptr, i32 }
          cleanup
  resume { ptr, i32 } %caught

out:
  ret void
}

attributes #0 = { noduplicate }
"""


@pytest.mark.parametrize(
    ("attribute", "cloned"), [("noduplicate", False), ("convergent", False), ("cold", True)]
)
def test_what_must_not_be_duplicated_is_not_cloned(attribute: str, cloned: bool) -> None:
    blocks = {block for block, _ in with_hot_clones(ONCE.replace("noduplicate", attribute)).clones}
    assert (2 in blocks) is cloned


def test_measured_counts_choose_the_path_that_was_executed() -> None:
    # Into the loop, past it; to add, to double; to the latch twice; back edge, loop exit; EXIT, closing.
    weights = [1.0, 0.0, 0.0, 1000.0, 0.0, 1000.0, 999.0, 1.0, 1.0, 1.0]
    cloned = {block for block, _ in with_hot_clones(LOOP, weights).clones}
    assert cloned == {1, 3, 4}


@pytest.mark.parametrize("level", ["-O1", "-O2"])
@pytest.mark.parametrize("arguments", [[], ["40"], ["499"]])
def test_the_profile_is_the_same(tmp_path: Path, level: str, arguments: list[str]) -> None:
    (tmp_path / "busy.c").write_text(BUSY)
    found, outputs = [], []
    for switch in ("on", "off"):
        trod = tmp_path / f"{switch}.trod"
        flags = (f"--trodden-clone-blocks={switch}", level)
        words = ("--profile", "paths", "-o", str(trod), "busy.c", *flags, "--", *arguments)
        done = trodden("run", *words, cwd=tmp_path)
        outputs.append((done.returncode, done.stdout))
        found.append(load(trod))
    assert outputs[0] == outputs[1]
    assert counted(found[0]) == counted(found[1])
    assert found[0].functions["walk"].facts.clones
    assert not found[1].functions["walk"].facts.clones
    trodden("merge", "on.trod", "off.trod", "-o", "both.trod", cwd=tmp_path)
    both = load(tmp_path / "both.trod").functions["walk"]
    once = found[0].functions["walk"]
    assert sorted((path.id, path.count) for path in both.paths or ()) == sorted(
        (path.id, 2 * path.count) for path in once.paths or ()
    )


@pytest.mark.parametrize(
    "name", ["exact_flow.c", "path_log_exit.c", "path_log_throw.cpp", "context_switches.c"]
)
def test_counters_on_every_edge_agree(tmp_path: Path, name: str) -> None:
    """The program's own weights decide, so that clones are really executed."""
    source = PROGRAMS / name
    guide, checked = tmp_path / "guide.trod", tmp_path / "checked.trod"
    trodden("run", "--profile", "paths", "-o", guide, source, "-O2", cwd=tmp_path)
    trodden(
        *("run", "--profile", "paths", "--counters", "checked", "--weights", guide, "-o", checked),
        *(source, "-O2"),
        cwd=tmp_path,
    )
    profile = load(checked)
    assert any(function.facts.clones for function in profile.functions.values())
    assert [each.violations for each in profile.functions.values() if each.violations] == []


def test_measured_branch_weights_are_passed_to_the_code_generator(tmp_path: Path) -> None:
    (tmp_path / "busy.c").write_text(BUSY)
    must("run", "--profile", "paths", "-o", "busy.trod", "busy.c", "-O2", cwd=tmp_path)
    flags = ("--trodden-profile=paths", "--trodden-weights=busy.trod", "-O2", "-S", "-emit-llvm")
    words = ("cc", *flags, "busy.c")
    must(*words, "-o", "weighted.ll", cwd=tmp_path)
    must(*words, "--trodden-branch-weights=off", "-o", "silent.ll", cwd=tmp_path)
    assert '!"branch_weights", i32' in (tmp_path / "weighted.ll").read_text()
    assert '!"branch_weights", i32' not in (tmp_path / "silent.ll").read_text()


def test_frames_in_clones_are_located(tmp_path: Path) -> None:
    """The frame that called abort is in a clone; the prefix of its path is in the profile."""
    (tmp_path / "busy.c").write_text(BUSY.replace("exit(last % 100)", "abort()"))
    words = ("--profile", "paths", "-o", "a.trod", "busy.c", "-O1", "--", "499")
    done = trodden("run", *words, cwd=tmp_path)
    assert done.returncode == -signal.SIGABRT
    profile = load(tmp_path / "a.trod")
    frames = [frame for thread in profile.threads for frame in thread.frames]
    walks = [frame for frame in frames if frame.register is not None]
    assert walks
    cut = [path for path in profile.functions["walk"].paths or () if path.ends is PathEnd.UNWOUND]
    assert [path.count for path in cut] == [1]
