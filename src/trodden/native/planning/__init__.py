"""From a function and the user's options to a plan."""
