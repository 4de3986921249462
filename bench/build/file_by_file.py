"""Programs that are compiled file by file, with the same flags in every configuration."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.build.config import Config
from bench.build.fetching import unpacked
from bench.build.stamps import complete, fingerprint, home_of, is_current, lock_of, run_command, seconds_of
from bench.suite.sources import SourceFiles
from bench.support.directories import DATA, WORK
from bench.support.errors import BenchError
from bench.support.locking import locked


@dataclass(frozen=True)
class FileByFile:
    """Builds one program."""

    sources: SourceFiles

    def executable(self, config: Config) -> Path:
        """The executable, built unless the same build exists."""
        home = home_of(self.sources.name, config)
        with locked(lock_of(home)):
            plan = BuildPlan.of(self.sources, config)
            if not is_current(home, plan.fingerprint):
                shutil.rmtree(home, ignore_errors=True)
                home.mkdir(parents=True)
                what = f"{self.sources.name}, {config.name}"
                seconds = sum(run_command(command, home, what) for command in plan.commands)
                complete(home, plan.fingerprint, seconds)
        return plan.executable

    def fingerprint(self, config: Config) -> str:
        """A hash of everything that the build depends on."""
        return BuildPlan.of(self.sources, config).fingerprint

    def seconds(self, config: Config) -> float:
        """The processor time that the build took."""
        return seconds_of(home_of(self.sources.name, config))


@dataclass(frozen=True)
class BuildPlan:
    """The executable that a build makes, the commands that make it, and a hash of what it depends on."""

    executable: Path
    commands: tuple[list[str], ...]
    fingerprint: str

    @staticmethod
    def of(sources: SourceFiles, config: Config) -> BuildPlan:
        """The plan for a program, whose sources are fetched if necessary."""
        home = home_of(sources.name, config)
        files = source_files(sources)
        objects = [home / f"{number:02}-{file.stem}.o" for number, file in enumerate(files)]
        executable = home / sources.name
        driver = [*config.driver(sources.language), *config.flags]
        commands = [
            [*driver, "-w", *compile_flags(sources), "-c", str(file), "-o", str(target)]
            for file, target in zip(files, objects, strict=True)
        ]
        commands.append([*driver, *map(str, objects), "-o", str(executable), *sources.libraries])
        headers = [DATA / name for name in sources.headers]
        depends = fingerprint(commands, [*files, *headers], config)
        return BuildPlan(executable, tuple(commands), depends)


def source_files(sources: SourceFiles) -> list[Path]:
    """All files to compile, fetched if necessary."""
    found = [DATA / name for name in sources.own]
    if sources.archive is not None:
        home = _directory(sources)
        for pattern in sources.sources:
            found += sorted(path for path in home.glob(pattern) if path.name not in sources.excluded)
    if len(found) < len(sources.sources) + len(sources.own):
        raise BenchError(f"{sources.name}: sources are missing from {_directory(sources)}")
    return found


def compile_flags(sources: SourceFiles) -> list[str]:
    """The flags of a program, with the directories that they name."""
    directories = {"@sources": str(_directory(sources)), "@own": str(DATA)}
    return [_replaced(flag, directories) for flag in sources.flags]


def _directory(sources: SourceFiles) -> Path:
    if sources.archive is None:
        return DATA
    return unpacked(sources.archive, sources.directory, WORK)


def _replaced(flag: str, directories: Mapping[str, str]) -> str:
    for name, directory in directories.items():
        flag = flag.replace(name, directory)
    return flag
