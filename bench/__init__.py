"""Side-by-side measurements: what trodden adds beside what its peers add, and whether it is right."""
