"""Paths longer than those that were counted: over back edges, calls and returns (TZG04)."""
