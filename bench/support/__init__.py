"""Shared by all other parts: errors, directories, locks, atomic files, hashes, statistics."""
