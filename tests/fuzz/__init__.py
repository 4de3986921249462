"""Readers under fire: whatever bytes they get, they read them or refuse them with an error of ours."""
