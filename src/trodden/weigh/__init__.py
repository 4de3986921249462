"""How often each edge is expected to be taken."""
