"""Completing the counts of a process that was killed."""
