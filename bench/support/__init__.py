"""What all other parts share: errors, directories, locks, files that are replaced atomically, statistics."""
