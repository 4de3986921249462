"""How a verb shows its answer: formats, colours, the size of the screen, a pager, progress."""
