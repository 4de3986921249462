"""The page docs/benchmarks.md and its plots, generated from the files of results alone."""
