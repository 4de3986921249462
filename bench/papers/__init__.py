"""Figures out of the papers, each typed once, to stand beside our own."""
