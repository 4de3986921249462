"""Paths and branches in words."""
