"""Heuristics about branches, how far each is believed, and how their predictions are combined (WL94 §3)."""
