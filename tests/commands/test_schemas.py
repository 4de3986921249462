"""Every JSON document follows its schema."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.commands.calling import click
from tests.native.building import must, trodden
from tests.profile.sample import sample
from tests.report.pathing import path_sample
from trodden.profile.store.trod import save
from trodden.version import SCHEMA, __version__

PROGRAM = """
#include <stdlib.h>
static int clamp(int w) { return w > 50 ? 50 : w; }
static int deep(int n) { if (n == 0) abort(); return deep(n - 1) + 1; }
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 1; i < argc; i++) sum += clamp(atoi(argv[i]));
  return argc > 3 ? deep(2) : sum > 9;
}
"""
COMMANDS = [
    *(("report", (name,)) for name in ("sample", "paths", "one", "crash", "estimate", "merged")),
    *(("coverage", (name,)) for name in ("paths", "one", "crash")),
    *(("stats", (name, "--per-function")) for name in ("paths", "one")),
    ("stats", ("paths",)),
    *(("diff", pair) for pair in (("one", "crash"), ("estimate", "one"), ("one", "one"), ("merged", "one"))),
    *(("score", pair) for pair in (("estimate", "one"), ("one", "crash"))),
    ("calibrate", ("one",)),
    *(("report-longer", (name, "--longer")) for name in ("paths", "one", "crash", "merged", "traced")),
    *(("coverage-longer", (name, "--longer")) for name in ("paths", "one", "crash", "traced")),
    *(("diff-longer", (*pair, "--longer")) for pair in (("one", "crash"), ("traced", "traced"))),
    ("export", ("traced", "--longer", "--format")),
    ("export", ("one", "--longer", "--bounds=fixed", "--format")),
    *(("export", (name, "--format")) for name in ("sample", "paths", "one", "crash", "estimate", "merged")),
]


def schema(verb: str) -> dict[str, Any]:
    found = json.loads((resources.files("trodden") / f"schemas/{verb}.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("schemas")
    save(sample(str(directory)), directory / "sample.trod")
    save(path_sample(directory), directory / "paths.trod")
    (directory / "a.c").write_text(PROGRAM)
    options = ("--trodden-profile=paths", "--trodden-last=4", "--trodden-call-paths=on")
    must("cc", *options, "-O0", "a.c", "-o", "a", cwd=directory)
    trodden("run", "-q", "-o", "one.trod", "./a", "7", "80", cwd=directory)
    trodden("run", "-q", "-o", "crash.trod", "./a", "7", "80", "1", cwd=directory)
    trodden("run", "-q", "--profile=trace", "-o", "traced.trod", "a.c", "--", "7", "80", "1", cwd=directory)
    must("estimate", "--quiet", "a.c", "-o", "estimate.trod", cwd=directory)
    must("merge", "one.trod", "crash.trod", "-o", "merged.trod", cwd=directory)
    return directory


@pytest.mark.parametrize(
    ("verb", "words"), COMMANDS, ids=lambda part: part if isinstance(part, str) else " ".join(part)
)
def test_documents_follow_their_schemas(folder: Path, verb: str, words: tuple[str, ...]) -> None:
    given = [word if word.startswith("--") else folder / f"{word}.trod" for word in words]
    result = click(
        verb.partition("-")[0], *given, *(["json"] if given[-1] == "--format" else ["--format", "json"])
    )
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert (document["schema"], document["version"]) == (SCHEMA, __version__)
    Draft202012Validator(schema(verb)).validate(document)


@pytest.mark.parametrize("verb", sorted({verb for verb, _ in COMMANDS}))
def test_schemas_are_valid_and_refuse_other_documents(verb: str) -> None:
    found = schema(verb)
    Draft202012Validator.check_schema(found)
    assert verb.replace("-", " --") in found["title"]
    others: list[object] = [{}, {"schema": SCHEMA, "version": __version__}, []]
    for other in others:
        with pytest.raises(ValidationError):
            Draft202012Validator(found).validate(other)
