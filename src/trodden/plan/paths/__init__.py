"""Where probes go for path profiles (BL96), and what the path register holds in each block."""
