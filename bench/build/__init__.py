"""Builds: sources are fetched, configured and compiled in each configuration, and reused while current."""
