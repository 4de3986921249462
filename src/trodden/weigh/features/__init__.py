"""What heuristics look at: clues about blocks, branches and what surrounds them (WL94 §3.1)."""
