"""Where counters go for block and edge profiles (BL94 §3)."""
