"""A switch whose value is that of no case, and that has no default."""

from __future__ import annotations

from pathlib import Path

import trodden
from trodden.report.narrate.paths import Describer

SOURCE = """\
#include <stdlib.h>
int g(int k) {
  int r = 0;
  switch (k) {
  case 1:
    r = 1;
    break;
  case 2:
    r = 2;
    break;
  }
  return r;
}
int h(int k) {
  switch (k) {
  case 1:
    return 1;
  case 2:
  default:
    return 2;
  }
}
int main(int argc, char **argv) {
  int s = 0;
  for (int i = 1; i < argc; i++)
    s += g(atoi(argv[i])) + h(atoi(argv[i]));
  return s;
}
"""


def test_the_edge_of_all_other_values(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(SOURCE)
    profile = trodden.run(source, "-O0", args=["1", "2", "80", "81"], profile="paths").profile
    describer = Describer(profile)
    found = {
        (name, path.count, describer.describe(profile.functions[name], path).steps[0].outcome_text)
        for name in ("g", "h")
        for path in profile.functions[name].paths or ()
    }
    assert found == {
        ("g", 1, "switch (k): case 1"),
        ("g", 1, "switch (k): case 2"),
        ("g", 2, "switch (k): no case"),
        ("h", 1, "switch (k): case 1"),
        ("h", 1, "switch (k): case 2"),
        ("h", 2, "switch (k): default"),
    }
