"""Paths that overlap: what is executed across back edges, calls and returns (TZG04)."""
