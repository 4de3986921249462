"""The command ``trodden-bench``: which tables and programs to measure, in which order, and what is printed."""
