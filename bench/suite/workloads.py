"""Workloads: the scripts in our data directory, and the files that their lines read."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.suite.inputs import script_files
from bench.suite.model import Files, Workload
from bench.support.directories import DATA

SCRIPTS = DATA / "unix" / "runs"
"""A file for each program, whose lines are its runs."""

_COMMAND_FILES = DATA / "unix" / "scripts"
"""Programs in small languages that some commands interpret: awk, ed, gperf, m4, sed."""


def scripted(name: str, files: Files) -> Workload:
    """The script of a program, with files of its own."""
    return Workload(SCRIPTS / name, files)


def unix_workload(name: str) -> Workload:
    """The script of a Unix command, with the files that all commands share."""
    return Workload(SCRIPTS / name, unix_files)


def unix_files(directory: Path) -> None:
    """Generated texts, tables and binaries, and the programs that commands interpret."""
    script_files.write(directory)
    for script in _COMMAND_FILES.iterdir():
        shutil.copy(script, directory)
