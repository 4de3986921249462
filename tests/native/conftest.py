"""The runtime, compiled once for all that link it by hand."""

from __future__ import annotations

import platform

import pytest

from tests.native.byhand import Toolbox


@pytest.fixture(scope="session")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    return Toolbox(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="session")
def static_toolbox(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    target = f"{platform.machine()}-linux-musl"
    return Toolbox(tmp_path_factory.mktemp("static"), ["-target", target, "-static"])
