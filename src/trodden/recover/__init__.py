"""From counters to all counts: the flow law, path decoding, and completion after a kill."""
