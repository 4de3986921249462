"""The page: docs/benchmarks.md and its pictures, made from the files of results alone."""
