"""Generators of input files, all seeded: the same bytes on every machine."""
