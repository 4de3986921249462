"""Where an interrupted frame was, and which probes it had yet to execute."""
