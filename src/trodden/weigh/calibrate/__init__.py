"""What branches were observed to do, and the rates of heuristics fitted to that (WL94 §3.1, §8)."""
