"""How many machine instructions of its own a program executes in each block and along each edge."""
