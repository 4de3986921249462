"""From blocks to source lines and branches."""
