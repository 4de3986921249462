"""What a table consists of: columns, values and their formats, means, and the grid that they make."""
