"""The examples of the pages: each is executed, or checked against what it describes."""
