"""How an execution is recorded, so that all of it can be regenerated (BL94 §4, §6.2)."""
