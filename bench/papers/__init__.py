"""Figures out of the papers, each typed once, for comparison with our own."""
