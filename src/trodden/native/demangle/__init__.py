"""The names that people read, from the names that linkers use."""
