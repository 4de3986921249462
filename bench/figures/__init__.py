"""What tables are made of: figures computed from profiles, as plain numbers that can be kept."""
