"""Two C++ libraries that read documents, with many templates, and exceptions for malformed input."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.suite.inputs import json_lines, yaml_pieces
from bench.suite.model import Archive, Case, SuiteProgram
from bench.suite.sources import SourceFiles

_JSON = SourceFiles(
    name="json",
    version="nlohmann 3.11.2",
    archive=Archive(
        "apt",
        "nlohmann-json3",
        "nlohmann-json3_3.11.2.orig.tar.gz",
        "d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273",
    ),
    directory="json-3.11.2/single_include",
    own=("json_documents.cpp",),
    flags=("-std=c++17", "-I@sources"),
    language="C++",
)
_YAML = SourceFiles(
    name="yaml",
    version="yaml-cpp 0.7.0",
    archive=Archive(
        "apt",
        "yaml-cpp",
        "yaml-cpp_0.7.0+dfsg.orig.tar.xz",
        "dc63708605404e0b963e0ca3a9619d1c8270eda2839603e6fa0384e5e51e5312",
    ),
    directory="yaml-cpp-yaml-cpp-0.7.0",
    sources=("src/*.cpp",),
    own=("yaml_pieces.cpp",),
    flags=("-std=c++11", "-I@sources/include"),
    language="C++",
)


def _trees(directory: Path) -> None:
    (directory / "lines").write_text("\n".join(json_lines.trees(Random(251), 70)), encoding="utf-8")


def _orders(directory: Path) -> None:
    (directory / "lines").write_text("\n".join(json_lines.orders(Random(252), 120)), encoding="utf-8")


def _many_orders(directory: Path) -> None:
    (directory / "lines").write_text("\n".join(json_lines.orders(Random(252), 2_400)), encoding="utf-8")


def _nests(directory: Path) -> None:
    (directory / "pieces").write_text(yaml_pieces.nests(Random(261), 12))


def _settings(directory: Path) -> None:
    (directory / "pieces").write_text(yaml_pieces.settings(Random(262), 40))


def _many_settings(directory: Path) -> None:
    (directory / "pieces").write_text(yaml_pieces.settings(Random(262), 800))


DOCUMENTS = (
    SuiteProgram(
        name="json",
        about="parses, queries, changes and writes JSON, some of it malformed (C++, exceptions)",
        source=_JSON,
        train=Case(("@lines",), _trees, "a40ac1f38536feb911fae87edea6ecdcf3dc357c2b8357dad5472b472dd312eb"),
        ref=Case(("@lines",), _orders, "b933101e3e8f234b8e3d26783ff9a30edeec66648d92ffa621ccb30e35e26328"),
        long=Case(
            ("@lines",), _many_orders, "ba80a2d3c06864ff5a85eb92ccdc629a51bef2243c75e3bf7e05ed68eb0540e5"
        ),
    ),
    SuiteProgram(
        name="yaml",
        about="parses, converts and writes YAML, some of it malformed (C++, exceptions)",
        source=_YAML,
        train=Case(("@pieces",), _nests, "38f44b91ffc55df4e86851042109e1d97d1492a099d56434d8e2d56c0eb61f22"),
        ref=Case(("@pieces",), _settings, "b1a6e95d791aa7643a7f540a8e06354ace2835341a7f826cf43a49d08ec0b0eb"),
        long=Case(
            ("@pieces",), _many_settings, "6465d5f7176c1c9faa1a3ec00e4c6ef938c88ba654753e63d67206b9ca8a0b62"
        ),
    ),
)
