"""What the reports say of whole programs, in numbers and in words, compared with what these programs do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must, trodden

ROTATED = """\
#include <stdio.h>
static volatile long n;
__attribute__((noinline)) static int f(int k, int *a) {
    int s = 0;
    for (;;) {
        n++;
        if (k <= 0)
            break;
        a[k & 7] += s;
        s += a[k & 3] * 3;
        k--;
    }
    return s;
}
int main(void) {
    int s = 0, a[8] = {1, 2, 3};
    for (int i = 0; i < 20; i++)
        s += f(i, a);
    printf("%ld\\n", n);
    return s == 12345;
}
"""
HEADER = """\
static inline unsigned rotate(unsigned x, int k) { return (x << k) | (x >> (32 - k)); }
static inline unsigned mix(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = rotate(h, 5) ^ (unsigned char)*s++;
    return h;
}
"""
INLINED = """\
#include "mix.h"
static unsigned table[256];
int main(void)
{
    char word[8] = "aaaaaaa";
    for (int i = 0; i < 500; i++) {
        word[i % 7] = 'a' + i % 26;
        table[mix(word) & 255]++;
    }
    return table[7] == 1000;
}
"""
SHARED = "int used(int x) { return x + 1; }\nint other(int x) { return x - 1; }\n"


def _sentences(text: str) -> list[str]:
    """The inputs to write next, each on one line."""
    _, _, after = text.partition("Inputs to write next\n")
    found: list[str] = []
    for line in after.splitlines():
        if re.match(r" *[\d,]+ \w", line):
            found.append(line.strip())
        elif found:
            found[-1] += f" {line.strip()}"
    return found


def _marks(text: str) -> dict[int, str]:
    rows = [row for row in text.splitlines() if row[10:16].strip().isdigit()]
    return {int(row[10:16]): row[:9].strip() for row in rows}


@pytest.fixture(scope="module")
def switches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("switches")
    must("run", "--quiet", "--profile", "paths", PROGRAMS / "switches.c", "-O0", cwd=folder)
    return folder


def test_cases_that_lead_to_one_block_are_one_edge_of_coverage(switches: Path) -> None:
    document = json.loads(must("coverage", "--json", cwd=switches))
    [grade] = [each for each in document["functions"] if each["name"] == "grade"]
    assert grade["edges"]["total"] == 5 + 6
    assert grade["paths"]["total"] == 5
    assert grade["paths"]["covered"] == 4


def test_words_name_the_cases_that_an_edge_stands_for(switches: Path) -> None:
    text = must("coverage", cwd=switches, env={"COLUMNS": "400"})
    sentences = _sentences(text)
    [grade] = [each for each in sentences if " grade: " in each]
    assert "never to line 35 (switch (p): case 100)" in grade
    steps = [each for each in sentences if " step: " in each]
    assert any("never to line 16 (switch (o): case SWAP)" in each for each in steps)
    assert any(re.search(r"never to line 23 \(switch \(o\): default\)", each) for each in steps)
    taken = must("report", "--format", "tsv", "--function", "step", cwd=switches)
    assert "switch (o): case HALT\t" in taken
    assert "case HALT or default" not in taken
    assert "switch (p): case 70 ... 89\t" in must("report", "--format", "tsv", cwd=switches)


def test_outcomes_lead_to_where_control_continues(switches: Path) -> None:
    text = must("annotate", cwd=switches)
    [first, second] = [line.strip() for line in text.splitlines() if "line 43: " in line]
    assert first == "line 43: 67% →43 2, 33% →45 1"
    assert second == "line 43: 50% →44 1, 50% →45 1"


def test_annotations_say_which_outcome_never_happened(switches: Path) -> None:
    text = must("coverage", "--format", "github", cwd=switches)
    assert "and never went to line 35 (switch (p): case 100)" in text


def test_conditions_of_lambdas_and_exceptions_in_words(tmp_path: Path) -> None:
    source = PROGRAMS / "lambdas.cpp"
    must("run", "--quiet", "--profile", "paths", source, "-std=c++17", cwd=tmp_path)
    document = json.loads(must("coverage", "--json", cwd=tmp_path))
    assert document["mcdc"] == {"covered": 1, "total": 2, "share": 0.5}
    sentences = _sentences(must("coverage", cwd=tmp_path, env={"COLUMNS": "400"}))
    assert "never to line 24 (x < 1000: false)" in sentences[0]
    assert "x > limit: true, x < 1000: false" in sentences[0]
    throws = [number for number, each in enumerate(sentences) if "throws an exception" in each]
    never = [number for number, each in enumerate(sentences) if "never" in each]
    assert throws
    assert min(throws) > max(set(never) - set(throws))
    [made] = [each for each in sentences if " make(int): at lambdas.cpp:16 " in each]
    assert "never out of the function (throws an exception)" in made
    assert "15:" not in made


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_every_copy_of_a_line_in_rotated_and_unrolled_loops_counts(tmp_path: Path, level: str) -> None:
    (tmp_path / "a.c").write_text(ROTATED)
    counted = must("run", "--quiet", "a.c", level, cwd=tmp_path).strip()
    assert _marks(must("annotate", cwd=tmp_path))[6] == counted == "210"


def test_entries_of_inlined_functions_whose_code_was_moved(tmp_path: Path) -> None:
    (tmp_path / "mix.h").write_text(HEADER)
    (tmp_path / "a.c").write_text(INLINED)
    must("run", "--quiet", "a.c", "-O2", cwd=tmp_path)
    text = must("annotate", "trodden.trod", "mix.h", cwd=tmp_path)
    assert text.splitlines()[1].startswith("optimised: ")
    assert _marks(text)[2] == "500"
    assert _marks(text)[6] == "3500"
    assert must("annotate", "--include", "mix.h", cwd=tmp_path) == text


def test_functions_that_ran_in_each_of_two_programs_with_a_common_unit(tmp_path: Path) -> None:
    (tmp_path / "shared.c").write_text(SHARED)
    for name, body in (("one", "used(1) == 0"), ("two", "used(other(1)) == 0")):
        declared = "int used(int), other(int);\n"
        (tmp_path / f"{name}.c").write_text(f"{declared}int main(void) {{ return {body}; }}\n")
    must("cc", "-c", "shared.c", cwd=tmp_path)
    for name in ("one", "two"):
        must("cc", f"{name}.c", "shared.o", "-o", name, cwd=tmp_path)
    must("run", "--quiet", "sh", "-c", "./one && ./two", cwd=tmp_path)
    report = json.loads(must("report", "--format", "json", cwd=tmp_path))
    ran = {each["name"]: (each["ran"], each["functions"]) for each in report["programs"]}
    assert ran == {"one": (2, 3), "two": (3, 3)}


def test_a_script_that_cannot_be_executed_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("print(1)\n")
    done = trodden("run", "m.py", cwd=tmp_path)
    assert done.returncode
    assert "m.py: is neither a source nor executable" in done.stderr
