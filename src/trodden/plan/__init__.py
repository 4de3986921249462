"""Which probes go where, as plans that any executor can run."""
