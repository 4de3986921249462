"""``trodden cc`` and ``trodden c++`` with probes of both stages: edges before optimisation, paths after it.

    python both_stages.py cc|c++ [arguments of the compiler]

trodden itself does not offer this.  What it would cost can be measured all the same: the probes of the early
stage are left in the code, and are given other names, so that the late stage takes them for code of the
program.  They count in an array of their own, which nobody reads.  This file is run by its path, without the
rest of the benchmark.
"""

from __future__ import annotations

import re
import sys
from dataclasses import fields, replace
from pathlib import Path

from trodden.api.builds import builder
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import Source
from trodden.native.instrument import instrument

_OURS = "trodden"
_THEIRS = "early"
_DEFINITION = re.compile(r"^define .*?^}\n", re.MULTILINE | re.DOTALL)
_AROUND = re.compile(r'@"?__trodden_around\.([\w.$]+)"?')
_PERSONALITY = " personality ptr @__trodden_personality"
_LAYOUT = r"@__trodden_layout_\d+"
_RUNTIME = re.compile(rf"^(?:declare .*@__trodden_|{_LAYOUT} = ).*\n", re.MULTILINE)


class BothStages(Builder):
    """A builder whose programs have been instrumented before they are."""

    def ir(self, source: Source, directory: Path) -> str:
        """The optimised IR of a source, with the probes of an edge profile that was inserted before."""
        known = {field.name: getattr(self, field.name) for field in fields(Builder)}
        options = replace(self.options, profile="edges", stage="early")
        early = Builder(**{**known, "options": options})
        done = instrument(early.ir(source, directory), source.path, options, keep_debug=True)
        return as_code_of_the_program(early.optimise(done.text, source, directory))


def as_code_of_the_program(text: str) -> str:
    """IR whose probes cannot be told from other code: the runtime learns nothing of them."""
    text = _DEFINITION.sub(lambda match: "" if _is_wrapper(match[0]) else match[0], text)
    text = _AROUND.sub(r'@"\1"', text.replace(_PERSONALITY, ""))
    text = re.sub(f"ptr {_LAYOUT}", "ptr null", _RUNTIME.sub("", text))
    return re.sub(rf"(?<![\w/-]){_OURS}(?=[._])|(?<=__){_OURS}(?=_)", _THEIRS, text)


def _is_wrapper(definition: str) -> bool:
    """Whether a function only stands around a personality, to tell the runtime what it has answered."""
    return _AROUND.search(definition.partition("(")[0]) is not None


def main(driver: str, *arguments: str) -> int:
    """Compile or link; return the exit status."""
    usual = builder(arguments, driver == "c++")
    return BothStages(**{field.name: getattr(usual, field.name) for field in fields(usual)}).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
