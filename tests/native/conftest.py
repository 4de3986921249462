"""The runtime, compiled once for all that link it by hand."""

from __future__ import annotations

import platform

import pytest

from tests.native.byhand import Toolbox
from tests.native.ledger import Workshop


@pytest.fixture(scope="session")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    return Toolbox(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="session")
def static_toolbox(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    target = f"{platform.machine()}-linux-musl"
    return Toolbox(tmp_path_factory.mktemp("static"), ["-target", target, "-static"])


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("workshop"))
