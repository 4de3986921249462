"""The profile of a program that has never run (WL94)."""
