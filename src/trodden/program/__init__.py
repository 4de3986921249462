"""The static facts of a build: written by a front end, read by all that handles its counts or results."""
