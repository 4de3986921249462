"""From raw files and the programs that wrote them to what was counted."""
