"""The command ``trodden-bench``: what to measure, in which order, and what is printed."""
