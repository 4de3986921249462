"""Drawings of control-flow graphs."""
