"""Tracefiles of small programs, and the totals in them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HEADER = """\
static int sign(int x)
{
    if (x < 0)
        return -1;
    return x > 0;
}
static inline int never(int x) { return x ? 1 : 2; }
"""
C_MAIN = """\
#include <stdio.h>
#include "sign.h"
int other(int);

static int in_range(int x, int low,
                    int high)
{
    return x >= low && x < high;
}

int main(int argc, char **argv)
{
    int total = 0, i = 0;
    while (i < 10 && (total < 1000 ||
                      argc > 3)) {
        switch (i % 4) {
        case 0:
        case 1:
            total += sign(i);
            break;
        case 2:
            total += in_range(i, 1, 5);
            break;
        default:
            total += other(i);
        }
        i++;
    }
    if (argc > 100) /* LCOV_EXCL_BR_LINE */
        total += never(argc); /* GCOVR_EXCL_LINE */
    printf("%d\\n", total);
    return 0;
}
"""
C_OTHER = """\
#include "sign.h"
int other(int x)
{
    return sign(-x);
}
"""
CXX = """\
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

template <class T>
static T between(T value, T low, T high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
};

static int risky(int n)
{
    if (n > 3)
        throw std::runtime_error("too large");
    return n;
}

int main(int argc, char **argv)
{
    std::vector<int> values{3, 1, 2};
    std::sort(values.begin(), values.end(), [](int a, int b) { return a < b; });
    auto never = [&](int x) {
        if (x)
            return 1;
        return 2;
    };
    std::map<std::string, int> found;
    for (int x : values)
        found["k" + std::to_string(x)] = between(x, 1, 2);
    if (argc > 100 && argc < 300)
        return never(argc);
    int caught = 0;
    for (int i = 0; i < 6; i++) {
        try {
            risky(i);
        } catch (const std::exception &error) {
            caught++;
        }
    }
    Square square(2);
    std::printf("%d %zu %f %ld\\n", caught, found.size(), square.area(), between(argc + 0L, 2L, 4L));
    return 0;
}
"""
PROGRAMS = {
    "c": {"sign.h": HEADER, "main.c": C_MAIN, "other.c": C_OTHER},
    "cxx": {"main.cpp": CXX},
}


class Totals(NamedTuple):
    """How many of how many lines and outcomes of branches were executed."""

    lines: tuple[int, int]
    branches: tuple[int, int]


def totals_of(text: str) -> Totals:
    """The totals of a tracefile."""
    lines = re.findall(r"^DA:\d+,(\d+)$", text, re.MULTILINE)
    branches = re.findall(r"^BRDA:.*,(.+)$", text, re.MULTILINE)
    return Totals(
        (sum(count != "0" for count in lines), len(lines)),
        (sum(count not in ("0", "-") for count in branches), len(branches)),
    )


def tracefile(name: str, level: str, folder: Path) -> Path:
    """The tracefile of one of the programs above, with its profile beside it."""
    for file, text in PROGRAMS[name].items():
        (folder / file).write_text(text)
    sources = [file for file in PROGRAMS[name] if not file.endswith(".h")]
    kind = ("--profile", "paths") if level == "-O0" else ()
    _trodden("run", "--quiet", *kind, "-g", level, *sources, "-o", f"{name}{level}.trod", folder=folder)
    path = folder / f"{name}{level}.info"
    _trodden("export", "--format", "lcov", f"{name}{level}.trod", "-o", str(path), folder=folder)
    return path


def _trodden(*words: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trodden", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
