"""The instructions of probes: one module for each kind of probe, and for the path register."""
