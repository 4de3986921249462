"""rustc and cargo with probes."""
