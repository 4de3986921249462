"""The control-flow graph, and what can be asked of it."""
