"""Block cloning for a known path register, with SSA form repaired."""
