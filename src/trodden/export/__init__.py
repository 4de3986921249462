"""Profiles in the formats that other tools read, one file a format."""
