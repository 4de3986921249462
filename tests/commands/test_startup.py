"""What a command loads: a compiler runs once for every file of a build, and reports need no compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.calling import ENVIRONMENT
from tests.native.building import must
from tests.profile.sample import sample
from trodden.profile.store.trod import save

PROGRAM = """\
import sys
from trodden.commands.main import main

status = main(sys.argv[1:])
print(*sorted(name for name in sys.modules if name.startswith("trodden.")), file=sys.stderr)
sys.exit(status)
"""
RESULTS = ("collect", "compare", "estimating", "export", "merging", "profile", "recover", "report", "source")


def loaded(*words: str, cwd: Path) -> set[str]:
    """The packages of trodden that a command line has loaded at its end."""
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return {name.split(".")[1] for name in done.stderr.splitlines()[-1].split()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    save(sample(str(tmp_path)), tmp_path / "x.trod")
    return tmp_path


@pytest.mark.parametrize("option", ["profile=edges", "profile=paths", "weights=estimate", "stage=early"])
def test_a_compiler_loads_nothing_that_reads_results(folder: Path, option: str) -> None:
    packages = loaded("cc", f"--trodden-{option}", "-O1", "a.c", "-o", "a", cwd=folder)
    assert packages.isdisjoint(RESULTS)
    assert "native" in packages
    assert (folder / "a").exists()


def test_a_compiler_loads_profiles_for_weights_alone(folder: Path) -> None:
    packages = loaded("cc", "--trodden-weights=x.trod", "-c", "a.c", cwd=folder)
    assert packages.isdisjoint({"report", "export", "merging", "compare", "source"})
    assert "profile" in packages


@pytest.mark.parametrize(
    "words",
    [
        ("report", "x.trod"),
        ("report", "x.trod", "--json"),
        ("export", "x.trod"),
        ("diff", "x.trod", "x.trod"),
        ("score", "x.trod", "x.trod"),
        ("merge", "x.trod", "-o", "y.trod"),
        ("coverage", "--help"),
    ],
    ids=" ".join,
)
def test_what_reads_results_loads_no_compiler(folder: Path, words: tuple[str, ...]) -> None:
    assert "native" not in loaded(*words, cwd=folder)


def test_running_a_built_program_loads_no_instrumentation(folder: Path) -> None:
    must("cc", "a.c", "-o", "a", cwd=folder)
    program = PROGRAM.replace('startswith("trodden.")', 'startswith("trodden.native.")')
    command = [sys.executable, "-c", program, "run", "-q", "./a"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    parts = {name.split(".")[2] for name in done.stderr.split()}
    assert parts.isdisjoint({"instrument", "lower", "clone", "planning", "analysis", "ir", "rust"})


def test_a_program_that_ends_by_itself_needs_no_general_reader_of_debug_information(folder: Path) -> None:
    must("cc", "a.c", "-o", "a", cwd=folder)
    program = PROGRAM.replace('startswith("trodden.")', 'startswith(("elftools", "trodden.collect."))')
    command = [sys.executable, "-c", program, "run", "-q", "./a"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    loaded_modules = done.stderr.split()
    assert "trodden.collect.gather" in loaded_modules
    assert not any(name.startswith("elftools") for name in loaded_modules)


@pytest.mark.parametrize("words", [("--version",), ("-E", "a.c"), ("a.o", "-o", "a")], ids=" ".join)
def test_a_compiler_that_compiles_nothing_does_not_load_what_instruments(
    folder: Path, words: tuple[str, ...]
) -> None:
    must("cc", "-c", "a.c", cwd=folder)
    assert loaded("cc", *words, cwd=folder).isdisjoint({"weigh", "graph"})


def test_a_compiler_that_links_nothing_does_not_load_what_links(folder: Path) -> None:
    """Nor modules of Python that take long to load, and are rarely needed."""
    program = PROGRAM.replace('if name.startswith("trodden.")', "")
    command = [sys.executable, "-c", program, "cc", "-O1", "-c", "a.c"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    names = set(done.stderr.splitlines()[-1].split())
    assert "trodden.native.instrument" in names
    assert not any(name.startswith("trodden.native.driver.linking") for name in names)
    assert names.isdisjoint({"importlib.metadata", "email", "socket"})
