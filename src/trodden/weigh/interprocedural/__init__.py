"""From functions to the whole program: the call graph and how often each function is invoked (WL94 §5)."""
