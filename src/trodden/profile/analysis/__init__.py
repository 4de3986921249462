"""What can be asked of one profile."""
