"""Two profiles side by side."""
