from __future__ import annotations

from bench.build.fetching import as_source_packages


def test_package_sources_of_both_formats_ask_for_source_code() -> None:
    assert as_source_packages("Types: deb\nURIs: mirror://x\n") == "Types: deb-src\nURIs: mirror://x\n"
    assert as_source_packages("deb mirror://x stable main\n# deb y\n") == (
        "deb-src mirror://x stable main\n# deb y\n"
    )
