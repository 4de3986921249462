"""The traces that a process leaves behind: what each of its threads has recorded, in chunks."""
