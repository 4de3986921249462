"""Reading traces: from the records of a thread to the blocks that it executed (BL94 §4, Figure 14)."""
