"""Figures: what is computed from profiles and counters, some of them as measures of their own."""
