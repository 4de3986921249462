"""What a configuration is: the drivers of each language, and flags; and those of each tool."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from bench.build.toolchain import CLANG, TRODDEN_TOOLCHAIN
from bench.suite.model import Language
from bench.support.errors import BenchError

_BOTH_STAGES = Path(__file__).with_name("both_stages.py")
_RECORDING = Path(__file__).with_name("recording_clang.py")
_RECORDER = Path(__file__).with_name("branch_recorder.c")
_ONE_KIND = Path(__file__).with_name("one_kind.py")


@dataclass(frozen=True)
class Config:
    """A configuration: the driver of each language, and flags for both compilation and linking.

    ``reads`` are files that the flags name: the build is made again when one of them changes.
    ``label`` heads its columns; ``baseline`` is the configuration that it is compared with, itself if empty.
    """

    name: str
    cc: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()
    rustc: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    trodden: bool = False
    reads: tuple[Path, ...] = ()
    label: str = ""
    baseline: str = ""

    def driver(self, language: Language) -> tuple[str, ...]:
        """The command that compiles and links programs in a language."""
        driver = {"C": self.cc, "C++": self.cxx, "Rust": self.rustc}[language]
        if not driver:
            raise BenchError(f"{self.name}: no compiler for {language} in this configuration")
        return driver

    @property
    def compiler(self) -> str:
        """The compiler that its builds depend on."""
        return CLANG if CLANG in self.cc else (self.cc or self.rustc)[0]


def clang(name: str, *flags: str, label: str = "", baseline: str = "") -> Config:
    """Built by the machine's clang."""
    cxx = (CLANG, "--driver-mode=g++")
    return Config(name, (CLANG,), cxx, flags=flags, label=label, baseline=baseline)


def gcc(name: str, *flags: str, label: str = "", baseline: str = "") -> Config:
    """Built by the machine's gcc."""
    return Config(name, ("gcc",), ("g++",), flags=flags, label=label, baseline=baseline)


def trodden(name: str, *flags: str, label: str = "", baseline: str = "") -> Config:
    """Built by trodden, with the machine's clang as its compiler."""
    toolchain = f"--trodden-toolchain={TRODDEN_TOOLCHAIN}"
    base = (sys.executable, "-m", "trodden")
    cc, cxx = (*base, "cc", toolchain), (*base, "c++", toolchain)
    return Config(name, cc, cxx, flags=flags, trodden=True, label=label, baseline=baseline)


def trodden_twice(name: str, *flags: str, label: str = "", baseline: str = "") -> Config:
    """Built by trodden with probes of both stages, see :mod:`bench.build.both_stages`."""
    base = (sys.executable, str(_BOTH_STAGES))
    cc, cxx = ((*base, driver, f"--trodden-toolchain={TRODDEN_TOOLCHAIN}") for driver in ("cc", "c++"))
    return Config(name, cc, cxx, (), flags, True, (_BOTH_STAGES,), label, baseline)


def recording_clang(name: str, *flags: str, label: str = "", baseline: str = "") -> Config:
    """Built by the machine's clang to record every edge, see :mod:`bench.build.recording_clang`."""
    cc = (sys.executable, str(_RECORDING), CLANG)
    cxx = (*cc, "--driver-mode=g++")
    return Config(name, cc, cxx, (), flags, False, (_RECORDING, _RECORDER), label, baseline)


def rustc(name: str, *flags: str, label: str = "") -> Config:
    """Built by the machine's rustc."""
    return Config(name, rustc=("rustc",), flags=flags, label=label, baseline="rustc")


def trodden_rustc(name: str, *flags: str, label: str = "") -> Config:
    """Built by trodden, with the machine's rustc as its front end."""
    driver = (sys.executable, "-m", "trodden", "rustc")
    return Config(name, rustc=driver, flags=flags, trodden=True, label=label, baseline="rustc")


def trodden_one_kind(kind: str, name: str, *flags: str, label: str = "", baseline: str = "") -> Config:
    """Built by trodden with longer paths of one kind alone, see :mod:`bench.build.one_kind`."""
    base = (sys.executable, str(_ONE_KIND), kind)
    cc, cxx = ((*base, driver, f"--trodden-toolchain={TRODDEN_TOOLCHAIN}") for driver in ("cc", "c++"))
    return Config(name, cc, cxx, (), flags, True, (_ONE_KIND,), label, baseline)
