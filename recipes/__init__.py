"""Tests with tools that PyPI does not have: Debian's Python, ccache, a clang with sanitizers, lcov.

``make recipes`` runs them.  A tool that is not installed is fetched by apt into a cache, without being root
(:mod:`recipes.debian`).
"""
