"""From raw numbers back to facts."""
