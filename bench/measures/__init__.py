"""Measures: what is measured of a program, one file a kind, and the store that keeps the raw figures."""
