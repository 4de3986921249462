"""What is built once in a session: the runtime for handwritten probes, and programs with mapped counts."""

from __future__ import annotations

import platform

import pytest

from tests.native.handwritten import RuntimeLinker
from tests.native.mapped_counts import ProgramBuilder


@pytest.fixture(scope="session")
def linker(tmp_path_factory: pytest.TempPathFactory) -> RuntimeLinker:
    return RuntimeLinker(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="session")
def static_linker(tmp_path_factory: pytest.TempPathFactory) -> RuntimeLinker:
    target = f"{platform.machine()}-linux-musl"
    return RuntimeLinker(tmp_path_factory.mktemp("static"), ["-target", target, "-static"])


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> ProgramBuilder:
    return ProgramBuilder(tmp_path_factory.mktemp("programs"))
