"""What heuristics look at: features of blocks, and branches in their context (WL94 §3.1)."""
