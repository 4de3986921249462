"""The drawing of the architecture shows the imports that there are, all of them in the allowed direction."""

from __future__ import annotations

import tomllib

import grimp

from tools.architecture import DRAWING, ROOT, Layers, contracts, drawing, imports_between


def _layers() -> list[Layers]:
    return contracts((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_drawing_is_up_to_date() -> None:
    assert DRAWING.read_text(encoding="utf-8") == drawing(), "run make docs"


def test_imports_go_one_way() -> None:
    graph = grimp.build_graph("trodden", cache_dir=None)
    for layers in _layers():
        for importer, imported in imports_between(graph, layers):
            assert layers.members.index(importer) <= layers.members.index(imported), (importer, imported)


def test_imports_inside_functions_and_for_types_count() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    assert not contracts.get("exclude_type_checking_imports", False)
    graph = grimp.build_graph("trodden", cache_dir=None)
    assert "trodden.api.runs" in graph.find_modules_directly_imported_by("trodden")  # under TYPE_CHECKING
