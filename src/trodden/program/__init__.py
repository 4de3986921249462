"""The static facts of a build: written by a front end, read by everything to the right of it."""
