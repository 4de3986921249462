"""Calls over which paths were counted, against what programs know of their calls themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must, run
from trodden.profile.crossings import Crossings
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.processes import only
from trodden.profile.store.trod import load, save
from trodden.recover.bounds.fixed_point import fixed_point

Calls = Counter[tuple[str, str]]
SOURCES = (PROGRAMS / "crossings.c", PROGRAMS / "crossings_library.c", "-pthread")


def told(output: str) -> dict[str, Calls]:
    """What each process says of its calls."""
    found: dict[str, Calls] = {}
    for line in output.splitlines():
        process, caller, callee, times = line.split()
        found.setdefault(process, Counter())[caller, callee] += int(times)
    return found


def counted(profile: Profile, returned: bool) -> Calls:
    found: Calls = Counter()
    for each in Crossings(profile).sites:
        if each.returned is returned:
            found[each.caller, each.callee] += each.times
    return found


def bounds_hold(profile: Profile) -> None:
    """No contradiction, and together the pairs of a site are as many as were counted, or more."""
    crossings = Crossings(profile)
    for each in crossings.sites:
        bounds = fixed_point(crossings.facts(each).system())
        assert not bounds.contradictory, each
        assert bounds.definite_flow <= each.times + each.missing <= bounds.potential_flow + each.missing


OPTIONS = ["--trodden-overlap=max", "--trodden-overlap=1", "--trodden-overlap=0 --trodden-pairs=on"]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O1 -static"])
def test_calls_of_a_program(tmp_path: Path, flags: str, options: str) -> None:
    must(
        "cc",
        "--trodden-profile=paths",
        *options.split(),
        *flags.split(),
        *SOURCES,
        "-o",
        "crossings",
        cwd=tmp_path,
    )
    agrees(tmp_path)


@pytest.mark.parametrize("executable", ["-fPIE -pie", "-fno-pie -no-pie"])
def test_calls_between_an_executable_and_a_library(tmp_path: Path, executable: str) -> None:
    profile = ["--trodden-profile=paths", "--trodden-overlap=2", "-O1"]
    library = PROGRAMS / "crossings_library.c"
    must("cc", *profile, "-shared", "-fPIC", library, "-o", "libcrossings.so", cwd=tmp_path)
    linked = ["./libcrossings.so", "-pthread", *executable.split()]
    must("cc", *profile, PROGRAMS / "crossings.c", *linked, "-o", "crossings", cwd=tmp_path)
    agrees(tmp_path)


def agrees(directory: Path) -> None:
    done = run("./crossings", cwd=directory)
    assert (done.returncode, done.stderr) == (0, "")
    expected = told(done.stdout)
    assert len(expected["parent"]) > 14
    raws = sorted(directory.glob("*.raw"))
    assert len(raws) == 2
    profile = collect(raws)
    assert not profile.messages
    assert not any(function.violations for function in profile.functions.values())
    save(profile, directory / "crossings.trod")
    profile = load(directory / "crossings.trod")
    both = expected["parent"] + expected["child"] + Counter({("main", "forks"): 1})
    assert counted(profile, True) == both
    entered = counted(profile, False)
    # Some of these calls end by a jump: what was counted of them until then is counted.
    jumping = entered.pop(("lands", "jumps"))
    assert both.pop(("lands", "jumps")) == 11 <= jumping <= 21
    # The child counts what its parent has begun, if it ends.
    assert 1 <= entered.pop(("main", "forks")) <= 2
    assert entered + Counter({("main", "forks"): 1}) == both
    bounds_hold(profile)
    child = only(profile, profile.processes[1].name, "crossings.trod")
    assert counted(child, True) == expected["child"]


def test_calls_are_summed_where_profiles_are_merged(tmp_path: Path) -> None:
    must(
        "cc",
        "--trodden-profile=paths",
        "--trodden-overlap=1",
        "-O1",
        *SOURCES,
        "-o",
        "crossings",
        cwd=tmp_path,
    )
    expected: Calls = Counter()
    for number in range(2):
        done = run("./crossings", cwd=tmp_path)
        expected += sum(told(done.stdout).values(), Counter({("main", "forks"): 1}))
        raws = sorted(tmp_path.glob("*.raw"))
        save(collect(raws), tmp_path / f"run{number}.trod")
        for raw in raws:
            raw.unlink()
    must("merge", "run0.trod", "run1.trod", "-o", "both.trod", cwd=tmp_path)
    merged = load(tmp_path / "both.trod")
    assert counted(merged, True) == expected
    bounds_hold(merged)


@pytest.mark.parametrize("optimise", ["-O0", "-O2"])
def test_what_an_exception_cuts_short_is_missing(tmp_path: Path, optimise: str) -> None:
    source = PROGRAMS / "crossing_throws.cpp"
    must("run", "--profile", "paths", "--overlap", "2", "-o", "t.trod", source, optimise, "--", cwd=tmp_path)
    profile = load(tmp_path / "t.trod")
    bounds_hold(profile)
    names = {"Plain::apply(int)", "Cleaning::apply(int)"}
    of_calls = [each for each in Crossings(profile).sites if each.caller == "call(Base*, int)"]
    assert {each.callee for each in of_calls} == names
    for each in of_calls:
        assert each.times + each.missing == 30 or each.returned
        assert each.times == 20 or not each.returned
