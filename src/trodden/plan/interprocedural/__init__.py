"""Interprocedural paths: context path profiles and piecewise path profiles (MR98)."""
