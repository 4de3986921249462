"""Bounds on how often longer paths were executed than those that were counted (TZG04 §2.2, §3.2)."""
